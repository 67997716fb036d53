"""A Dagster asset: a corpus without near-duplicates, and a check of how much was removed.

Look at it with `dagster dev -f dagster_assets.py`.
"""

import dagster as dg

import neardup as nd


class Corpus(dg.Config):
    """Where the documents are, and where the result goes."""

    source: str = "incoming"
    output: str = "clean"


@dg.asset
def clean_corpus(config: Corpus) -> dg.MaterializeResult:
    """The kept documents, with what was removed, why, and a report, in a folder."""
    result = nd.dedup(config.source)
    result.save(config.output, overwrite=True)
    numbers = {name: result.summary[name] for name in ("documents", "removed", "clusters")}
    report = dg.MetadataValue.path(f"{config.output}/report.html")
    return dg.MaterializeResult(metadata={**numbers, "report": report})


@dg.asset_check(asset=clean_corpus)
def most_documents_are_kept(config: Corpus) -> dg.AssetCheckResult:
    """Warn if more than half of the documents went: the settings may not fit them."""
    result = nd.Result.load(config.output)
    share = result.summary["removed"] / max(1, result.summary["documents"])
    return dg.AssetCheckResult(
        passed=share <= 0.5, severity=dg.AssetCheckSeverity.WARN, metadata={"removed": share}
    )


defs = dg.Definitions(assets=[clean_corpus], asset_checks=[most_documents_are_kept])
