"""Clusters, members, pairs and chains: the same as the tables of the run say."""

import math
from itertools import combinations

import pyarrow as pa
import pytest
from tests.runs.stored import read, store, table, texts

import neardup as nd
from neardup.errors import InputError, SettingError
from neardup.runs import ClusterQuery, open_run
from neardup.runs.views import SORTS

RUNS = {
    "evidence": {},
    "floor": {"floor": 0.5},
    "all pairs": {"pairs": "all", "threshold": 0.7},
    "no pairs": {"pairs": "none"},
    "components": {"cluster": "components", "threshold": 0.7, "pairs": "all"},
    "components, evidence": {"cluster": "components", "threshold": 0.7},
    "dense": {"cluster": "dense:0.5", "threshold": 0.7, "pairs": "all"},
    "keep none": {"keep": "none"},
    "keep two": {"keep": "each:2"},
    "longest": {"keep": "longest", "floor": 0.5},
    "hamming": {"similarity": "hamming", "threshold": 8, "pairs": "all"},
}


@pytest.fixture(scope="module", params=RUNS, ids=lambda name: name.replace(" ", "-"))
def out(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "out"
    store(path, **RUNS[request.param])
    return path


def test_clusters_are_those_of_the_table(out):
    run, held = open_run(out), read(out)
    assert run.clusters_count == len(held.clusters) > 5
    for number, rows in held.clusters.items():
        cluster = run.cluster(number)
        removed = [row for row in rows if not row.kept]
        assert cluster.size == len(rows)
        assert cluster.weakest == min((row.similarity for row in removed), default=None)
        assert cluster.chains == sum(row.similarity < run.threshold for row in removed)
        assert cluster.around.place in [row.place for row in rows]
        targets = [row.duplicate_of for row in removed]
        if targets:
            most = max(map(targets.count, targets))
            assert targets.count(cluster.around.place) == most
        assert cluster.decided == "none"
        assert " ".join(run.text(cluster.around.place).split()).startswith(
            cluster.title.rstrip("…")
        )
        assert len(cluster.title) <= 160
    assert (
        sum(run.cluster(number).copies for number in held.clusters) == run.summary["exact_copies"]
    )


def test_members_in_order(out):
    run, held = open_run(out), read(out)
    for number, rows in held.clusters.items():
        ordered = sorted(rows, key=lambda row: (not row.kept, -(row.similarity or 0), row.place))
        found = run.members(number, per_page=1000)
        assert [one.place for one in found] == [row.place for row in ordered]
        assert [one.duplicate_of for one in found] == [row.duplicate_of for row in ordered]
        assert [one.similarity for one in found] == [row.similarity for row in ordered]
        pages = [run.members(number, page, 2) for page in range(1, len(rows) // 2 + 2)]
        assert [one for page in pages for one in page] == found


def value(run, sort, cluster):
    if sort == "source":
        return cluster.sources
    return cluster.number if sort == "number" else getattr(cluster, sort)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("descending", [True, False])
def test_pages_are_a_sorted_list(out, sort, descending):
    run, found = open_run(out), []
    query = ClusterQuery(sort=sort, descending=descending, per_page=7)
    pages = run.clusters(query).pages
    for page in range(1, pages + 1):
        asked = ClusterQuery(sort=sort, descending=descending, per_page=7, page=page)
        some = run.clusters(asked)
        assert (some.total, some.page, some.pages) == (run.clusters_count, page, pages)
        found += some.rows

    def key(cluster):
        known = value(run, sort, cluster)
        if known is None:
            return (1, 0, cluster.number)
        return (0, -known if descending else known, cluster.number)

    if sort == "number" and descending:
        assert found == sorted(found, key=lambda cluster: -cluster.number)
    else:
        assert found == sorted(found, key=key)
    assert len({cluster.number for cluster in found}) == run.clusters_count
    beyond = run.clusters(ClusterQuery(sort=sort, descending=descending, page=10**6))
    assert beyond.page == beyond.pages


def test_filters(out):
    run, held = open_run(out), read(out)
    every = [run.cluster(number) for number in held.clusters]

    def numbers(**asked):
        page = run.clusters(ClusterQuery(per_page=1000, sort="number", descending=False, **asked))
        return [cluster.number for cluster in page.rows]

    assert numbers(size_least=3) == [one.number for one in every if one.size >= 3]
    assert numbers(size_most=2) == [one.number for one in every if one.size <= 2]
    assert numbers(chains=True) == [one.number for one in every if one.chains]
    between = [
        number
        for number, rows in held.clusters.items()
        if any(not row.kept and 0.85 <= row.similarity <= 0.95 for row in rows)
    ]
    assert numbers(similarity_least=0.85, similarity_most=0.95) == between
    assert numbers(undecided=True) == [one.number for one in every]
    assert numbers(size_least=10**9) == []
    assert numbers(size_most=10**9, size_least=-5) == [one.number for one in every]


def test_links_and_neighbours(out):
    run, held = open_run(out), read(out)
    listed = {(a, b): (similarity, distance) for a, b, similarity, distance in held.pairs}
    every = range(run.documents)
    found = run.links(every)
    assert {(link.a, link.b): (link.similarity, link.distance) for link in found} == listed
    assert len(found) == len(listed)
    for number, rows in held.clusters.items():
        places = {row.place for row in rows}
        inside = {pair for pair in listed if set(pair) <= places}
        assert {(link.a, link.b) for link in run.links(sorted(places))} == inside, number
    for place in every:
        if run.document(place).copy_of is not None:
            continue
        of_place = sorted((-listed[pair][0], sum(pair) - place) for pair in listed if place in pair)
        found = run.neighbours(place, 1000)
        assert [(-link.similarity, link.b) for link in found] == of_place
        assert run.neighbours(place, 2) == found[:2]
        assert all(link.a == place for link in found)


def test_density(tmp_path):
    result = store(tmp_path / "out", floor=0.5)
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    kinds = result.both.kinds
    similar = {(a, b) for a, b, similarity, _ in held.pairs if similarity >= run.threshold}
    for number, rows in held.clusters.items():
        places = sorted(row.place for row in rows)
        near = [
            kinds[a] == kinds[b] or tuple(sorted((kinds[a], kinds[b]))) in similar
            for a, b in combinations(places, 2)
        ]
        assert math.isclose(run.cluster(number).density, sum(near) / len(near))


def test_density_is_unknown_without_all_pairs(tmp_path):
    store(tmp_path / "out")
    assert open_run(tmp_path / "out").cluster(0).density is None


@pytest.mark.parametrize("cluster", ["components", "dense:0.2"])
def test_chains_of_components(tmp_path, cluster):
    result = store(tmp_path / "out", cluster=cluster, threshold=0.7, pairs="all")
    run = open_run(tmp_path / "out")
    clustering = result.clustering
    via = dict(zip(clustering.place.tolist(), clustering.via.tolist(), strict=True))
    link = dict(zip(clustering.place.tolist(), clustering.link.tolist(), strict=True))
    chained = 0
    for place, kept_for in zip(
        clustering.place.tolist(), clustering.kept_for.tolist(), strict=True
    ):
        expected, here = [], place
        while place != kept_for and here != kept_for:
            expected.append((via[here], link[here]))
            here = via[here]
        found = [(step.place, step.similarity) for step in run.chain(place)]
        assert found == (expected if len(expected) > 1 else [])
        chained += bool(found)
    assert chained > 3
    assert sum(run.cluster(n).chains for n in range(run.clusters_count)) == run.summary["unproven"]


@pytest.mark.parametrize("within", [False, True])
def test_against_another_collection(tmp_path, within):
    some = texts()
    others = pa.table({"id": [f"o{n}" for n in range(0, 60, 3)], "text": some[0:60:3]})
    nd.dedup(table(some), against=others, within=within, floor=0.5).save(tmp_path / "out")
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    outside = 0
    for number, rows in held.clusters.items():
        cluster = run.cluster(number)
        targets = {row.duplicate_of for row in rows if not row.kept}
        around_other = max(targets) >= run.documents
        outside += around_other
        assert cluster.size == len(rows) + around_other
        first = run.members(number, per_page=1000)[0]
        assert first == cluster.around
        assert first.is_other == around_other
        assert first.kept
    assert outside > 5
    places = range(run.documents + run.others)
    assert [(link.a, link.b) for link in run.links(places)] == sorted(
        (a, b) for a, b, *_ in held.pairs
    )


def test_sources(tmp_path):
    import json

    some = texts()
    parts = {"a.jsonl": some[0::3], "b.jsonl": some[1::3], "c.jsonl": some[2::3]}
    (tmp_path / "in").mkdir()
    for name, held in parts.items():
        lines = [json.dumps({"id": f"{name}{n}", "text": text}) for n, text in enumerate(held)]
        (tmp_path / "in" / name).write_text("\n".join(lines))
    nd.dedup(str(tmp_path / "in")).save(tmp_path / "out")
    run, held = open_run(tmp_path / "out"), read(tmp_path / "out")
    assert [source.documents for source in run.sources] == [len(part) for part in parts.values()]
    name = run.sources[1].name
    assert name.endswith("b.jsonl")
    of_source = {
        number
        for number, rows in held.clusters.items()
        if any(held.documents[row.place]["source"] == name for row in rows)
    }
    found = run.clusters(ClusterQuery(source=name, per_page=1000))
    assert {cluster.number for cluster in found.rows} == of_source
    for number, rows in held.clusters.items():
        sources = {held.documents[row.place]["source"] for row in rows}
        assert run.cluster(number).sources == len(sources)
    with pytest.raises(InputError, match="no source 'nowhere'"):
        run.clusters(ClusterQuery(source="nowhere"))


def test_a_number_that_is_not_there(tmp_path):
    store(tmp_path / "out")
    run = open_run(tmp_path / "out")
    for number in (-1, run.clusters_count):
        with pytest.raises(InputError, match="has no cluster"):
            run.cluster(number)


@pytest.mark.parametrize(
    "asked", [{"sort": "id"}, {"page": 0}, {"per_page": 0}, {"per_page": 9999}]
)
def test_wrong_queries(asked):
    with pytest.raises(SettingError):
        ClusterQuery(**asked)
