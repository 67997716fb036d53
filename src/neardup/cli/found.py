"""What `neardup dedup` has found, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from neardup.cli.terminal import count, files_lines, size

if TYPE_CHECKING:
    from neardup.collection.settings import DedupSettings
    from neardup.deduplication.result import Result
    from neardup.deduplication.save import Saved

LARGEST = 5
_CHAINS = 3
_SHOWN = 60


def found_lines(result: Result, saved: Saved, *, in_folder: bool) -> Iterator[str]:
    """What was found and how, line by line."""
    summary = saved.summary
    yield from files_lines(summary.get("files"))
    yield headline(summary)
    compared = f"{count(summary['candidates'], 'candidate')}, each compared"
    yield f"{_listed(result, summary)}; {compared}" if in_folder else compared
    if "repeats_index" in summary:
        yield _repeated(summary)
    if "decisions" in summary:
        yield _obeyed(summary["decisions"])
    if summary["unproven"]:
        yield unproven_line(result.settings, summary["unproven"], ", as in these")
        yield from _chains(result)
    yield f"{time_spent(summary)}, peak memory {size(int(summary['peak_megabytes'] * 1e6))}"
    yield summary["reason"]
    yield from _largest(result, saved.texts)


def headline(summary: Mapping[str, Any]) -> str:
    """What was found, in a sentence."""
    documents = count(summary["documents"], "document")
    if summary["empty"]:
        documents += f" ({summary['empty']:,} empty)"
    return (
        f"{documents}: {summary['exact_copies']:,} exact and {summary['near_copies']:,} near "
        f"copies in {count(summary['clusters'], 'cluster')}; {summary['removed']:,} removed, "
        f"{summary['kept']:,} kept"
    )


def time_spent(summary: Mapping[str, Any]) -> str:
    """The seconds of each stage, and of all."""
    stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in summary["seconds"].items())
    return f"{stages}; {summary['wall_seconds']:.2f} s in all"


def cluster_line(size: int, id: str, text: str) -> str:
    """A cluster in one line: its size, and the beginning of the kept document."""
    text = " ".join(text.split())
    begin = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return f"{size:>8,} × {id}  {begin}"


def _obeyed(decisions: Mapping[str, Any]) -> str:
    """How many decisions there are, and what became of them."""
    said = ", ".join(f"{decisions[name]:,} {name}" for name in ("same", "different", "keep"))
    total = sum(decisions[name] for name in ("same", "different", "keep"))
    parts = [f"{decisions['obeyed']:,} of {count(total, 'decision')} obeyed ({said})"]
    if decisions["stale_count"]:
        parts.append(f"{decisions['stale_count']:,} about documents that are gone or changed")
    if decisions["conflict_count"]:
        parts.append(count(decisions["conflict_count"], "conflict"))
    return "; ".join(parts)


def _listed(result: Result, summary: Mapping[str, Any]) -> str:
    """The number of rows of pairs.parquet, and what they are."""
    settings = result.settings
    if settings.pairs == "none":
        return "no pairs listed"
    pairs = f"{count(summary['pairs'], 'pair')} in pairs.parquet"
    if settings.pairs == "evidence":
        chained = " and the next one in its chain" if result.clustering.via is not None else ""
        decided = " or decided" if result.decided.any() else ""
        return f"{pairs}, one for each removed document{chained}, of {settings.limit}{decided}"
    limit = settings.limit
    if settings.floor is not None:
        limit = f"{settings.similarity} ≥ {settings.floor:g}"
    return f"{pairs}: all of {limit}, and each exact copy with the first of its kind"


def unproven_line(settings: DedupSettings, unproven: int, examples: str = "") -> str:
    """How many documents went without being similar enough to the kept one themselves."""
    return (
        f"{count(unproven, 'removed document')} below {settings.limit}: only a chain of pairs "
        f"connects them to the kept one{examples} (--cluster star removes none of them)"
    )


def _chains(result: Result) -> list[str]:
    """The removals that are least similar to the kept document, with their chains."""
    from neardup.deduplication.page import chain_of, weakest_removals

    lines = []
    for row in weakest_removals(result)[:_CHAINS].tolist():
        place, similarity = result.clustering.place[row], result.clustering.similarity[row]
        steps = [f"{step.similarity:.3f} → {step.id}" for step in chain_of(result, row)]
        lines.append(f"  {similarity:.3f}: {' '.join([str(result.collected.ids[place]), *steps])}")
    return lines


def _repeated(summary: Mapping[str, Any]) -> str:
    """Which earlier deliveries the removed documents repeat."""
    ranked = summary["repeated"]
    named = [f"{one['documents']:,} of {one['source'] or 'unknown source'}" for one in ranked]
    if len(named) > LARGEST:
        rest = summary["repeats_index"] - sum(one["documents"] for one in ranked[:LARGEST])
        named = [*named[:LARGEST], f"{rest:,} of others"]
    of_index = f" ({', '.join(named)})" if named else ""
    return (
        f"{summary['repeats_index']:,} of the removed repeat documents of the index{of_index}, "
        f"{summary['repeats_input']:,} repeat documents of the input"
    )


def _largest(result: Result, texts: Mapping[int, str]) -> list[str]:
    """The largest clusters, one line each: size, and the beginning of the kept document."""
    from neardup.deduplication.page import largest_clusters

    return [
        cluster_line(cluster.size, result.id_at(cluster.around), texts[cluster.around])
        for cluster in largest_clusters(result, LARGEST)
    ]
