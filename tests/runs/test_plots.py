"""Histograms, matrices and tables of thresholds, against plain counting."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from tests.runs.stored import read, store, table, texts

import neardup as nd
from neardup.errors import InputError
from neardup.runs import open_run


def bins(histogram, values):
    """The values in each bin, counted one by one; the last bin of similarities has its end."""
    spans = list(zip(histogram.begins, histogram.ends, strict=True))
    return tuple(
        sum(
            begin <= value < end or (value == end == 1 and number == len(spans) - 1)
            for value in values
        )
        for number, (begin, end) in enumerate(spans)
    )


@pytest.mark.parametrize(
    "settings", [{}, {"floor": 0.5}, {"cluster": "components", "threshold": 0.7}]
)
def test_similarities(tmp_path, settings):
    result = store(tmp_path / "out", **settings)
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    found = run.similarity_histogram()
    kinds = result.both.kinds
    removed = [row for rows in held.clusters.values() for row in rows if not row.kept]
    copies = [
        row
        for row in removed
        if kinds[row.place] == kinds[row.duplicate_of] or kinds[row.place] != row.place
    ]
    near = [row.similarity for row in removed if row not in copies]
    misses = [similarity for *_, similarity, _ in held.pairs if similarity < run.threshold]
    assert found.apart == {"copies": len(copies)}
    assert found.series["removed"] == bins(found, near)
    assert found.series["near_misses"] == bins(found, misses)
    assert sum(found.series["removed"]) == len(near) > 10
    assert sum(found.series["near_misses"]) == len(misses)
    assert found.begins[0] <= (run.floor or run.threshold)
    assert found.ends[-1] == 1


def test_sizes_distances_and_lengths(tmp_path):
    some = [*texts(), *(["the very same text"] * 30)]
    store(tmp_path / "out", table(some), floor=0.5)
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    sizes = Counter(len(rows) for rows in held.clusters.values())
    found = run.size_histogram()
    for begin, end, count in zip(found.begins, found.ends, found.series["clusters"], strict=True):
        assert count == sum(sizes[size] for size in range(int(begin), int(end) + 1))
    assert found.ends[-1] == max(sizes)
    distances = Counter(distance for *_, distance in held.pairs)
    found = run.distance_histogram()
    assert found.series["pairs"] == tuple(distances[int(bits)] for bits in found.begins)
    assert sum(found.series["pairs"]) == len(held.pairs)
    found = run.length_histogram()
    for kept, name in ((True, "kept"), (False, "removed")):
        words = [row["words"] for row in held.documents if row["kept"] == kept]
        spans = zip(found.begins, found.ends, strict=True)
        assert found.series[name] == tuple(
            sum(begin <= count <= end for count in words) for begin, end in spans
        )
        assert sum(found.series[name]) == len(words)


def test_matrices(tmp_path):
    some = texts(120)
    (tmp_path / "in").mkdir()
    for file in range(3):
        lines = [
            json.dumps({"id": f"{file}-{n}", "text": text, "tag": f"t{(n * 7) % 40}", "n": n % 4})
            for n, text in enumerate(some[file::3])
        ]
        (tmp_path / "in" / f"{file}.jsonl").write_text("\n".join(lines))
    nd.dedup(str(tmp_path / "in")).save(tmp_path / "out")
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    for column in (None, "tag", "n"):
        values = [
            held.documents[place]["source"] if column is None else str(run.row(place)[column])
            for place in range(run.documents)
        ]
        expected = Counter(
            (values[row.place], values[row.duplicate_of])
            for rows in held.clusters.values()
            for row in rows
            if not row.kept
        )
        found = run.matrix(column)
        shown = found.names[:-1] if found.rest else found.names
        assert len(shown) <= 20
        assert (found.rest > 0) == (len({v for pair in expected for v in pair}) > 20)

        def label(value, shown=shown):
            return value if value in shown else "other"

        counts = Counter()
        for (removed, kept), count in expected.items():
            counts[label(removed), label(kept)] += count
        for row, line in zip(found.names, found.counts, strict=True):
            assert line == tuple(counts[row, name] for name in found.names)
        assert sum(map(sum, found.counts)) == run.summary["removed"]
    with pytest.raises(InputError, match="has no column 'nothing'"):
        run.matrix("nothing")


def test_matrix_against_another_collection(tmp_path):
    some = texts()
    others = pa.table({"id": ["x", "y"], "text": [some[5], some[6]]})
    nd.dedup(table(some), against=others, within=True).save(tmp_path / "out")
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    found = run.matrix("number")
    outside = sum(
        row.duplicate_of >= run.documents
        for rows in held.clusters.values()
        for row in rows
        if not row.kept
    )
    assert sum(found.against) == outside > 0


EXACT = {
    "floor": {"floor": 0.5},
    "all pairs": {"pairs": "all"},
    "longest": {"floor": 0.5, "keep": "longest"},
    "column": {"floor": 0.5, "keep": "max:number"},
    "none": {"floor": 0.5, "keep": "none"},
    "two": {"floor": 0.5, "keep": "each:2"},
    "components": {"floor": 0.5, "cluster": "components", "threshold": 0.7},
    "components, none": {"pairs": "all", "cluster": "components", "keep": "none"},
    "dense": {"floor": 0.5, "cluster": "dense", "threshold": 0.7},
    "dense, two": {"floor": 0.3, "cluster": "dense:0.6", "threshold": 0.7, "keep": "each:2"},
    "hamming": {"similarity": "hamming", "threshold": 9, "pairs": "all"},
    "hamming components": {
        "similarity": "hamming",
        "threshold": 9,
        "pairs": "all",
        "cluster": "components",
    },
}


@pytest.mark.parametrize("settings", EXACT.values(), ids=EXACT)
def test_thresholds_are_those_of_rethreshold(tmp_path, settings):
    if settings.get("floor") and settings.get("cluster"):
        settings = {**settings, "pairs": "all"}
    result = store(tmp_path / "out", table(texts(60)), **settings)
    require_thresholds(open_run(tmp_path / "out"), result)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("cluster", ["star", "components", "dense", "dense:0.6"])
def test_thresholds_against_another_collection(tmp_path, within, cluster):
    some = texts(60)
    others = pa.table({"id": [f"o{n}" for n in range(30)], "text": some[:60:2][:30]})
    result = nd.dedup(
        table(some), against=others, within=within, cluster=cluster, floor=0.5, pairs="all"
    )
    result.save(tmp_path / "out")
    require_thresholds(open_run(tmp_path / "out"), result)


def require_thresholds(run, result):
    found = run.threshold_table()
    assert found.exact
    assert len(found.rows) > 5
    before = members(result)
    for row in found.rows:
        other = result.rethreshold(row.threshold)
        assert row.removed == len(other.clustering.removed), row
        assert row.kept == run.documents - row.removed
        assert row.clusters == len(other.clustering)
        assert (row.split, row.joined) == changes(before, members(other)), row
    at_threshold = [
        row for row in found.rows if row.threshold == run.summary["settings"]["threshold"]
    ]
    assert [(row.removed, row.split, row.joined) for row in at_threshold] == [
        (run.summary["removed"], 0, 0)
    ]


def members(result):
    found = {}
    clustering = result.clustering
    for number, place in zip(clustering.cluster.tolist(), clustering.place.tolist(), strict=True):
        found.setdefault(number, set()).add(place)
    return list(found.values())


def changes(before, now):
    where = {place: number for number, places in enumerate(now) for place in places}
    was = {place: number for number, places in enumerate(before) for place in places}
    split = sum(len({where.get(place, -place - 1) for place in places}) > 1 for places in before)
    joined = sum(len({was[place] for place in places if place in was}) > 1 for places in now)
    return split, joined


def test_without_all_pairs_removals_are_counted(tmp_path):
    store(tmp_path / "out")
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    found = run.threshold_table()
    assert not found.exact
    assert "--floor" in found.note
    removed = [row.similarity for rows in held.clusters.values() for row in rows if not row.kept]
    for row in found.rows:
        assert row.removed == sum(similarity >= row.threshold for similarity in removed)
        assert (row.clusters, row.split, row.joined) == (None, None, None)
    assert found.rows[0].threshold == run.threshold
    assert found.rows[-1].threshold == 1
