"""Targets: what the fingerprint engine set out to reach, and whether the results say it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks import (
    containment,
    contamination,
    corpora,
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    exact,
    explore,
    fingerprint,
    index,
    join,
    labels,
    passages,
    serve_section,
    similar_index_section,
    startup,
    strings,
    sweep,
    tune,
    weighted,
)
from benchmarks.result import Result
from benchmarks.target import Target

OURS = "neardup"
KERNEL_SHARE = 1 / 3
PEAK_MEGABYTES = 300
SMALL_JOB_SECONDS = 0.25
RATE_FIELD = "megabytes_per_second"


def targets(results: Mapping[str, Result]) -> Iterator[Target]:
    """Every target, judged by these results."""
    yield from _speed(results[fingerprint.BENCHMARK])
    yield from weighted.targets(results[weighted.BENCHMARK])
    yield from strings.targets(results[strings.BENCHMARK])
    yield from join.targets(results[join.BENCHMARK])
    yield from index.targets(results[index.BENCHMARK])
    if similar_index_section.BENCHMARK in results:
        yield from similar_index_section.targets(results[similar_index_section.BENCHMARK])
    if serve_section.BENCHMARK in results:
        yield from serve_section.targets(results[serve_section.BENCHMARK])
    if serve_section.SOAK in results:
        yield from serve_section.soak_targets(results[serve_section.SOAK])
    if explore.BENCHMARK in results:
        yield from explore.targets(results[explore.BENCHMARK])
    if labels.BENCHMARK in results:
        yield from labels.targets(results[labels.BENCHMARK])
    if passages.BENCHMARK in results:
        yield from passages.targets(results[passages.BENCHMARK])
    if contamination.BENCHMARK in results:
        yield from contamination.targets(results[contamination.BENCHMARK])
    yield from dedup.targets(results[dedup.BENCHMARK])
    yield from dedup_quality.targets(results[dedup_quality.BENCHMARK])
    yield from exact.targets(results[exact.BENCHMARK])
    if containment.BENCHMARK in results:
        yield from containment.targets(results[containment.BENCHMARK])
    yield from sweep.targets(results[sweep.BENCHMARK])
    yield from tune.targets(results[tune.BENCHMARK])
    yield from _distances(results[distance.BENCHMARK])
    yield from _files(results[end_to_end.BENCHMARK])
    yield from _waits(results[startup.BENCHMARK])


def _speed(result: Result) -> Iterator[Target]:
    rate = result.row(corpus="English", task=fingerprint.WORDS, name=OURS)[RATE_FIELD]
    yield Target("`word:3/set/64`, English", "≥ 400 MB/s", f"{rate:.0f} MB/s", rate >= 400)
    best = result.machine.get("isa")
    for corpus in corpora.NAMES:
        least = 13 if best == "avx512" else 10
        yield _times_faster(result, corpus, fingerprint.WORDS, "gaoya", least)
    if best == "avx512":
        for corpus in corpora.NAMES:
            ours = fingerprint.FORCED.format("avx2")
            yield _times_faster(result, corpus, fingerprint.WORDS, "gaoya", 10, ours)
    for corpus in corpora.NAMES:
        yield _times_faster(result, corpus, fingerprint.CHARACTERS, "gaoya", 12)
    for corpus in corpora.GENERATED:
        yield _times_faster(result, corpus, fingerprint.WORDS, "simhash", 100)
    for corpus in corpora.NAMES:
        narrow, wide = (
            result.row(corpus=corpus, task=f"word:3/set/{bits}", name=OURS)["cpu_seconds"]
            for bits in (64, 512)
        )
        what = f"`word:3/set/512`, {corpus}"
        times = wide / narrow
        yield Target(what, "≤ 3 × the time of 64 bits", f"{times:.2f} ×", times <= 3)


def _times_faster(
    result: Result, corpus: str, task: str, peer: str, least: int, ours: str = OURS
) -> Target:
    how = ours.removeprefix(OURS)
    what, wanted = f"`{task}`, {corpus}{how}", f"≥ {least} × {peer}"
    theirs = result.find(corpus=corpus, task=task, name=peer)
    own = result.find(corpus=corpus, task=task, name=ours)
    if theirs is None or own is None:
        return Target(what, wanted, "not measured", None)
    times = own[RATE_FIELD] / theirs[RATE_FIELD]
    return Target(what, wanted, f"{times:.1f} ×", times >= least)


def _distances(result: Result) -> Iterator[Target]:
    row = result.row(task=fingerprint.WORDS)
    mean, variance = row["mean"], row["variance"]
    what = f"`{fingerprint.WORDS}`, unrelated documents"
    yield Target(what, "32 ± 1 bits apart", f"{mean:.2f}", abs(mean - 32) <= 1)
    yield Target(what, "variance near 16 (± 2)", f"{variance:.2f}", abs(variance - 16) <= 2)


def _files(result: Result) -> Iterator[Target]:
    kernel = result.row(name=end_to_end.KERNEL)
    for row in result.rows:
        if row is kernel:
            continue
        share = row[RATE_FIELD] / kernel[RATE_FIELD]
        what = f"`neardup fingerprint`, Parquet with {row['name']}"
        yield Target(what, "≥ ⅓ of the kernel's rate", f"{share:.2f}", share >= KERNEL_SHARE)
        peak = row["peak_megabytes_without_fingerprints"]
        wanted = f"< {PEAK_MEGABYTES} MB without the fingerprints"
        yield Target(what, wanted, f"{peak:.0f} MB", peak < PEAK_MEGABYTES)


def _waits(result: Result) -> Iterator[Target]:
    limits = ((startup.IMPORT, 150), (startup.VERSION, 40), (startup.HELP, 400))
    for name, most in limits:
        spent = result.row(name=name)["milliseconds"]
        yield Target(
            f"`{name}`, beyond `{startup.BARE}`", f"≤ {most} ms", f"{spent:.0f} ms", spent <= most
        )
    spent = result.row(name=startup.SMALL)["cpu_seconds"]
    wanted = f"≤ {SMALL_JOB_SECONDS} CPU s"
    yield Target("a job of 20 documents", wanted, f"{spent:.2f} CPU s", spent <= SMALL_JOB_SECONDS)
