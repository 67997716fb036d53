"""The section of the benchmarks page and its targets depend only on the result rows."""

from benchmarks import index
from benchmarks.result import Result


def row(run, **more):
    return {
        "tool": run.tool,
        "n": run.n,
        "bits": run.bits,
        "k": run.k,
        "plan": run.plan,
        "adds_per_second": 3e6,
        "adds_per_wall_second": 2e5,
        "queries_per_second": 1e6,
        "p50_microseconds": 4.0,
        "p99_microseconds": 30.0,
        "bytes_each": 50.0,
        **more,
    }


def result(rows):
    return Result.of("index", [], {}, {}, rows)


def test_targets_are_judged():
    measured = result(
        [
            row(index.Run(index.MEMORY, 10**7), own_bytes_each=70.0),
            row(index.Run(index.DURABLE, 10**7), open_seconds=0.01, disk_bytes_each=150.0),
        ]
    )
    met = [target.met for target in index.targets(measured)]
    assert met == [True, True, True, False, False, True, True, True, True, True]
    assert {target.met for target in index.targets(result([]))} == {None}


def test_the_section_leaves_out_what_was_not_measured():
    text = index.section(result([row(index.Run(index.GAOYA, 10**6))]))
    assert "| gaoya | 1,000,000 | 3,000,000 | 1,000,000 | 4.0 | 30.0 | 50 |" in text
    assert "faiss" not in text.replace("faiss-cpu", "")


def test_what_a_query_meets():
    assert index.looked_at(2**16, 64, "blocks:3") == 4
    assert index.looked_at(2**16, 640, "bands:40x16") == 40
    assert index.looked_at(2**32, 64, "blocks:3/4") == 2**18
    assert index.looked_at(10**6, 60, "blocks:3/6") == 10**6 * 20 / 2**30
