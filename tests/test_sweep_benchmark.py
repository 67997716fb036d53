"""The straightforward version that sweeps are measured against gives the same counts."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks import sweep
from benchmarks.course_lab import lab_sweep
from benchmarks.result import RESULTS, Result

import neardup as nd


def test_both_count_the_same(tmp_path):
    random = np.random.default_rng(5)
    terms, weights = [], []
    for _ in range(120):
        chosen = random.choice(40, 12, replace=False)
        weight = random.random(12) + 0.1
        for change in range(3):
            weight[change] += 0.2
            terms.append([f"term{term}" for term in chosen])
            weights.append((weight / np.linalg.norm(weight)).tolist())
    path = tmp_path / "features.parquet"
    pq.write_table(pa.table({"terms": terms, "weights": weights}), path)
    settings = [(2, 5), (3, 8)]
    plain = lab_sweep(path, settings, 0.9)
    ours = nd.sweep(
        path,
        plans=[f"bands:{m}x{k}" for m, k in settings],
        features="terms",
        hash="md5",
        threshold=0.9,
    )
    assert [(one.candidates, one.true) for one in plain] == [
        (row.candidates, row.true) for row in ours.rows
    ]
    assert plain[0].true > 300


def test_section_and_targets_follow_the_result():
    result = Result.load(sweep.BENCHMARK, RESULTS)
    text = sweep.section(result)
    stored = json.loads((RESULTS / "sweep.json").read_text(encoding="utf-8"))
    for row in stored["rows"]:
        if row["kind"] == sweep.COUNTS:
            assert f"| {row['candidates']:,} | {row['true']:,} |" in text
    judged = list(sweep.targets(result))
    assert len(judged) == 1 + 2 * len(sweep.COLLECTIONS)
    ours, plain = (
        result.row(kind=sweep.TIME, name=name)["cpu_seconds"] for name in (sweep.OURS, sweep.PLAIN)
    )
    assert judged[0].met == (plain >= 20 * ours)
