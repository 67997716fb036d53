"""The review queue, and what decisions do to it and to the clusters."""

from collections import Counter

import pytest
from tests.runs.stored import read, store, table, texts

from neardup.decisions import Named
from neardup.runs import ClusterQuery, open_run


@pytest.fixture
def run(tmp_path):
    store(tmp_path / "out", table(texts(80)), floor=0.5)
    return open_run(tmp_path / "out")


def every(run, by=""):
    return run.queue(0, 10**6, by)


def test_one_removal_of_each_cluster_and_one_miss_of_any_two_families(run):
    held = read(run.path)
    items = every(run)
    family = {row.place: number for number, rows in held.clusters.items() for row in rows}
    removals = [item for item in items if item.cluster is not None]
    misses = [item for item in items if item.cluster is None]
    weakest = {}
    for number, rows in held.clusters.items():
        near = [row for row in rows if not row.kept and run.document(row.place).copy_of is None]
        near = [row for row in near if row.similarity < 1]
        if near:
            weakest[number] = min(near, key=lambda row: (row.similarity, row.place))
    assert {item.cluster: item.b for item in removals} == {
        number: row.place for number, row in weakest.items()
    }
    for item in removals:
        row = weakest[item.cluster]
        assert (item.a, item.similarity) == (row.duplicate_of, row.similarity)
    best = {}
    for a, b, similarity, _ in held.pairs:
        families = frozenset((family.get(a, -a - 1), family.get(b, -b - 1)))
        if similarity < run.threshold and len(families) == 2:
            known = best.get(families, (2, 0, 0))
            best[families] = min(known, (-similarity, a, b))
    assert {(item.a, item.b) for item in misses} == {(a, b) for _, a, b in best.values()}
    assert misses
    assert removals


def test_the_most_doubtful_first(run):
    doubt = []
    for item in every(run):
        margin = abs(item.similarity - run.threshold)
        if item.cluster is not None:
            cluster = run.cluster(item.cluster)
            if cluster.size > 2:
                margin = min(margin, cluster.density * (1 - run.threshold))
        doubt.append(margin)
    assert doubt == pytest.approx(sorted(doubt))
    assert every(run) == every(open_run(run.path))
    assert run.queue(3, 4) == every(run)[3:7]
    assert run.queue(10**6, 5) == []


def test_reasons_are_sentences(run):
    reasons = Counter(item.reason.split(",")[0].split(":")[0] for item in every(run))
    assert len(reasons) >= 2
    assert all(item.reason.endswith(".") for item in every(run))


def test_decided_pairs_leave_the_queue(run):
    items, total = every(run), len(every(run))
    assert run.queue_progress() == (0, total)
    for says, item in zip(("same", "different", "keep", "skip"), items, strict=False):
        documents = [run.named(item.a), run.named(item.b)]
        run.decisions.add(says, documents, by="ann", similarity=item.similarity)
    assert every(run, "ann") == items[4:]
    assert every(run, "bob") == items[3:]  # ann has skipped one
    assert run.queue_progress("ann") == (4, total)
    assert run.queue_progress("bob") == (3, total)
    assert [one.says for one in run.decisions_of(items[0].b, items[0].a)] == ["same"]
    run.decisions.undo(run.decisions.history()[0].key, by="bob")
    assert every(run, "ann") == [items[0], *items[4:]]


def test_a_decision_about_another_content_does_not_count(run):
    item = every(run)[0]
    changed = Named(run.document(item.b).id, "0" * 32)
    run.decisions.add("same", [run.named(item.a), changed], by="ann")
    run.decisions.add("same", [run.named(item.a), Named("unknown", "0" * 32)], by="ann")
    assert every(run)[0] == item
    assert run.cluster(item.cluster or 0).decided == "none"


def test_clusters_are_decided_by_their_members(run):
    two = next(n for n in range(run.clusters_count) if run.cluster(n).size == 2)
    more = next(n for n in range(run.clusters_count) if run.cluster(n).size > 3)
    total = run.clusters_count

    def undecided():
        page = run.clusters(ClusterQuery(undecided=True, per_page=1000))
        return {cluster.number for cluster in page.rows}

    kept, *others = run.members(two)
    run.decisions.add("different", [run.named(kept.place), run.named(others[0].place)], by="ann")
    assert run.cluster(two).decided == "all"
    kept, *others = run.members(more)
    run.decisions.add("same", [run.named(kept.place), run.named(others[0].place)], by="ann")
    assert run.cluster(more).decided == "some"
    assert undecided() == set(range(total)) - {two}
    run.decisions.add("same", [run.named(one.place) for one in (kept, *others)], by="bob")
    assert run.cluster(more).decided == "all"
    assert undecided() == set(range(total)) - {two, more}


def test_exact_copies_are_never_doubtful(tmp_path):
    store(tmp_path / "out", table(["one two three four"] * 5 + ["five six seven eight"] * 3))
    run = open_run(tmp_path / "out")
    assert run.clusters_count == 2
    assert every(run) == []
    assert run.queue_progress() == (0, 0)


def test_chains_are_doubtful(tmp_path):
    store(tmp_path / "out", cluster="components", threshold=0.7)
    run = open_run(tmp_path / "out")
    assert any("chain" in item.reason for item in every(run))
