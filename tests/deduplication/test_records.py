"""Records whose fields are compared each in its own way, through all of `dedup`."""

import datetime
import random
import string
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.features.spec import FeatureSpec, Fields
from neardup.runs import open_run
from neardup.scoring import blocking
from neardup.scoring.reference import record_similarity

TEXT = "name:char:3*2 + street:word:1 + dob:date:1 + price:number:0.05"
FIELDS, WORD3 = Fields.parse(TEXT), FeatureSpec.parse("word:3")
NAMES = ("name", "street", "dob", "price")


def people(count, seed):
    """Records of which about half are another one with changes."""
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        row = dict(rng.choice(rows)) if rows and rng.random() < 0.5 else {
            "name": " ".join("".join(rng.choices("aeilnst", k=4)) for _ in range(2)),
            "street": f"{rng.randint(1, 30)} {rng.choice(['Main', 'Elm', 'Oak'])} Street",
            "dob": str(datetime.date(1980, 1, 1) + datetime.timedelta(rng.randint(0, 60))),
            "price": str(rng.randint(50, 90)),
        }  # fmt: skip
        for name in rng.choices(NAMES, k=2):
            change = rng.random()
            if change < 0.3:
                row[name] = ""
            elif change < 0.6 and row[name]:
                place = rng.randrange(len(row[name]))
                row[name] = row[name][:place] + rng.choice(string.ascii_letters) + row[name][place:]
        rows.append(row)
    return [{"id": f"r{place}", **row} for place, row in enumerate(rows)]


def similar(a, b):
    return record_similarity(a, b, FIELDS, WORD3)


def pairs_of(result):
    table = result.pairs.to_pydict()
    return dict(zip(zip(table["a"], table["b"], strict=True), table["similarity"], strict=True))


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.95])
def test_all_pairs_are_those_of_the_twin(threshold):
    rows = people(60, seed=int(threshold * 100))
    found = nd.exact_pairs(rows, threshold, text=TEXT).to_pydict()
    expected = {
        (a["id"], b["id"]): similar(a, b)
        for a, b in combinations(rows, 2)
        if similar(a, b) >= threshold and any(a[name] for name in NAMES)
    }
    listed = zip(found["a"], found["b"], strict=True)
    assert dict(zip(listed, found["similarity"], strict=True)) == pytest.approx(expected)
    assert len(expected) > 10


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_dedup_keeps_no_two_similar_records_and_proves_each_removal(cluster):
    rows = people(80, seed=3)
    result = nd.dedup(rows, text=TEXT, threshold=0.7, cluster=cluster, pairs="all", floor=0.5)
    by_id = {row["id"]: row for row in rows}
    kept = result.kept["id"].to_pylist()
    assert result.summary["removed"] > 10
    assert all(similar(by_id[a], by_id[b]) < 0.7 for a, b in combinations(kept, 2))
    for (a, b), score in pairs_of(result).items():
        assert score == pytest.approx(similar(by_id[a], by_id[b]))
        assert score >= 0.5
    if cluster == "star":
        for row in result.clusters.to_pylist():
            if not row["kept"]:
                assert similar(by_id[row["id"]], by_id[row["duplicate_of"]]) >= 0.7


def test_against_compares_with_the_other_collection_and_within():
    rows, others = people(40, seed=5), people(40, seed=5)[20:] + people(20, seed=6)
    by_id = {row["id"]: row for row in rows}
    alone = nd.dedup(rows, against=others, text=TEXT, threshold=0.7)
    expected = {
        row["id"] for row in rows
        if any(row[name] for name in NAMES) and any(similar(row, other) >= 0.7 for other in others)
    }  # fmt: skip
    assert set(alone.removed["id"].to_pylist()) == expected
    within = nd.dedup(rows, against=others, within=True, text=TEXT, threshold=0.7)
    kept = [by_id[id] for id in within.kept["id"].to_pylist()]
    assert expected <= set(within.removed["id"].to_pylist())
    assert all(similar(a, b) < 0.7 for a, b in combinations(kept, 2))


def test_an_empty_field_is_no_evidence_and_an_empty_record_no_duplicate():
    rows = [
        {"name": "Ann Lee", "street": "1 Main Street", "dob": "", "price": "10"},
        {"name": "Ann Lee", "street": "1 Main Street", "dob": "1981-01-30", "price": ""},
        {"name": "", "street": "", "dob": "", "price": ""},
        {"name": "?", "street": " ", "dob": "-", "price": None},
        {"name": "", "street": "", "dob": "1981-01-30", "price": ""},
        {"name": "Bob Stone", "street": "", "dob": "1981-01-30", "price": ""},
    ]
    result = nd.dedup(rows, text=TEXT, threshold=0.9)
    assert result.summary["empty"] == 2
    # Name and street agree and weigh 3 of 5; the date alone is less than half of the evidence.
    assert result.removed["name"].to_pylist() == ["Ann Lee"]
    assert nd.dedup(rows, text=TEXT, threshold=0.4).summary["removed"] == 2


def test_records_that_are_the_same_are_exact_copies_however_little_they_hold():
    rows = [
        {"name": "", "street": "", "dob": dob, "price": ""} for dob in ("19810130", "1981-01-30")
    ]
    result = nd.dedup(rows, text=TEXT, threshold=0.9)
    assert result.summary["exact_copies"] == 1
    against = nd.dedup(rows[:1], against=rows[1:], text=TEXT, threshold=0.9)
    assert against.summary["removed"] == 1


def test_typed_columns_are_read_by_their_values(tmp_path):
    table = pa.table(
        {
            "name": ["Ann Lee", "Ann Lee", "Ann Lee"],
            "price": pa.array([10.0, 10.4, 12.0]),
            "count": pa.array([1000, 1002, 2000], pa.int32()),
            "dob": pa.array([datetime.date(1981, 1, day) for day in (30, 31, 1)]),
            "seen": pa.array([datetime.datetime(2020, 1, 1, hour) for hour in (1, 2, 3)]),
        }
    )
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    text = "name:exact + price:number:0.05 + count:number:2 + dob:date:1 + seen:date"
    expected = {(0, 1): 1.0, (0, 2): 0.4, (1, 2): 0.4}
    for documents in (path, table):
        found = nd.exact_pairs(documents, 0.1, text=text).to_pydict()
        pairs = zip(found["a"], found["b"], strict=True)
        assert dict(zip(pairs, found["similarity"], strict=True)) == pytest.approx(expected)


def test_values_that_are_no_number_or_date_are_counted_and_compared_as_text():
    rows = [{"dob": "unknown", "price": "ten"}, {"dob": "Unknown ", "price": "10"}]
    result = nd.dedup(rows, text="dob:date + price:number", threshold=0.5)
    assert result.summary["removed"] == 1
    assert "2 values of dob are no date and compared as text" in result.summary["reason"]
    assert "1 value of price is no number and compared as text" in result.summary["reason"]


def test_the_summary_states_the_promise():
    reason = nd.dedup(people(50, seed=1), text=TEXT, threshold=0.8).summary["reason"]
    assert reason.startswith("fields: finds every pair, by joins on ")
    assert "need not be joined" in reason


def test_another_threshold_of_a_result_and_of_a_loaded_one(tmp_path):
    rows = people(60, seed=9)
    settings = {"text": TEXT, "threshold": 0.8, "pairs": "all", "floor": 0.4}
    for cluster in ("star", "components"):
        result = nd.dedup(rows, cluster=cluster, **settings)
        result.save(tmp_path / cluster)
        loaded = nd.Result.load(tmp_path / cluster)
        lower = nd.dedup(rows, cluster=cluster, **{**settings, "threshold": 0.5})
        for one in (result, loaded):
            again = one.rethreshold(0.5)
            assert again.clusters.equals(lower.clusters)


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_decisions_are_obeyed(tmp_path, cluster):
    rows = people(60, seed=9)
    settings = {"text": TEXT, "threshold": 0.7, "cluster": cluster}
    result = nd.dedup(rows, **settings)
    result.save(tmp_path / "run")
    run = open_run(tmp_path / "run")
    removed = next(row for row in result.clusters.to_pylist() if not row["kept"])
    ids = [row["id"] for row in rows]
    pair = [run.named(ids.index(removed[name])) for name in ("id", "duplicate_of")]
    far = next(b for b in range(1, 60) if 0 < similar(rows[0], rows[b]) < 0.3)
    run.decisions.add("different", pair, by="ann")
    run.decisions.add("same", [run.named(0), run.named(far)], by="ann")
    again = nd.dedup(rows, decisions=tmp_path / "run", **settings)
    found = {row["id"]: row for row in again.clusters.to_pylist() if not row["kept"]}
    assert found.get(removed["id"], {}).get("duplicate_of") != removed["duplicate_of"]
    one, other = (found.get(ids[place], {}).get("duplicate_of", ids[place]) for place in (0, far))
    assert one == other
    if one == ids[0]:
        score = similar(rows[0], rows[far])
        assert found[ids[far]]["similarity"] == pytest.approx(score)


def test_columns_that_do_not_fit_the_memory_go_to_a_file():
    rows = people(60, seed=2)
    settings = {"text": TEXT, "threshold": 0.6, "pairs": "all"}
    assert nd.dedup(rows, memory="2KB", **settings).pairs == nd.dedup(rows, **settings).pairs


def test_too_many_candidates_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(blocking, "MOST_CANDIDATES", 10)
    rows = [{"state": "nsw", "name": f"n{place}"} for place in range(40)]
    with pytest.raises(
        nd.NeardupError, match=r"pairs of records .* raise the threshold, .*'state'"
    ):
        nd.dedup(rows, text="state:exact*3 + name:exact", threshold=0.7)


def test_many_candidates_are_told_beforehand(monkeypatch):
    monkeypatch.setattr(blocking, "MANY_CANDIDATES", 10)
    rows = [{"state": "nsw", "name": f"n{place}"} for place in range(40)]
    with pytest.warns(UserWarning, match="pairs of records will be compared"):
        nd.dedup(rows, text="state:exact*3 + name:exact", threshold=0.7)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"similarity": "fields"}, "name them, for example"),
        ({"similarity": "fields", "text": "a+b", "weights": "tfidf"}, "leave the weights out"),
        ({"text": "a:exat + b"}, "'exat' is no way to compare a field"),
        ({"text": "a:exact + b", "candidates": "bands:4x16"}, "has a search of its own"),
        ({"text": "+".join(f"f{place}:exact" for place in range(61))}, "up to 60"),
        ({"text": "a:exact + b", "threshold": 0.09}, "from 0.1 on; raise the threshold"),
        ({"text": "a:exact + b", "floor": 0.05}, "from 0.1 on; raise the floor"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(chosen, said):
    with pytest.raises(nd.NeardupError, match=said):
        nd.dedup([{"a": "x", "b": "y"}], **chosen)


def test_a_sweep_and_an_index_refuse_to_compare_by_fields(tmp_path):
    rows = people(10, seed=1)
    with pytest.raises(nd.NeardupError, match="give similarity='weighted-jaccard'"):
        nd.sweep(rows, text=TEXT, bands=[2], band_bits=[8])
    with nd.Index(tmp_path / "index", text=TEXT, threshold=0.8) as index:
        for row in rows:
            index.add(row["id"], row)
    with pytest.raises(nd.NeardupError, match="use weighted-jaccard, or another index"):
        nd.dedup(rows, against=tmp_path / "index", text=TEXT)
