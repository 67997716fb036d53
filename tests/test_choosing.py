"""The page on choosing settings: made of its result, scored rightly, and every command runs."""

import json
import random
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from benchmarks import choosing, choosing_collections, choosing_page
from benchmarks.choosing_collections import COLLECTIONS, Labelled
from benchmarks.result import RESULTS, Result
from click.testing import CliRunner

from neardup.cli.app import app

PAGE = choosing_page.PAGE.read_text(encoding="utf-8")
with_data = pytest.mark.skipif(
    not choosing_collections.is_here(), reason="the real collections are not beside the repository"
)


def test_the_page_is_made_of_the_committed_result():
    assert choosing_page.page(Result.load(choosing.BENCHMARK, RESULTS)) == PAGE


def test_every_row_was_run_on_two_collections_and_all_of_them_on_more_than_eight():
    result = Result.load(choosing.BENCHMARK, RESULTS)
    for advice in choosing.ADVICE:
        assert len(set(advice.collections)) >= 2, advice.kind
        for name in advice.collections:
            row = result.row(collection=name, kind=advice.kind)
            assert row["options"] == advice.options_for(name)
    assert len({row["collection"] for row in result.rows}) >= 8
    assert set(COLLECTIONS) == {row["collection"] for row in result.rows}


def commands() -> list[str]:
    """Every command of the page, in code or indented."""
    spans = re.findall(r"`(neardup [^`]+)`|^    (neardup .+)$", PAGE, flags=re.MULTILINE)
    return list(dict.fromkeys(a or b for a, b in spans))


def test_the_page_names_the_commands_of_all_rows():
    found = commands()
    for advice in choosing.ADVICE:
        for name in advice.collections:
            assert choosing_page.command(advice.options_for(name)) in found
    assert not any(choosing.FORMER in command for command in found)


FIELDS = (
    *("name", "street", "town", "phone", "given_name", "surname", "address_1", "suburb"),
    *("postcode", "date_of_birth", "soc_sec_id", "title", "authors", "year", "brand"),
    *("modelno", "price"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty documents with all columns that the page names, ten of them entered twice."""
    folder = tmp_path_factory.mktemp("choosing")
    chance = random.Random(4)
    words = [
        f"{a}{b}" for a in ("lor", "ip", "dol", "sit", "am") for b in ("em", "sum", "or", "et")
    ]
    rows = []
    for place in range(30):
        text = " ".join(chance.choices(words, k=12)) + "."
        row = {"id": f"d{place}", "text": text, **{name: chance.choice(words) for name in FIELDS}}
        row |= {"year": str(1990 + place), "price": str(place + 0.5)}
        row |= {"date_of_birth": f"19{60 + place}0101"}
        rows += [row, {**row, "id": f"e{place}"}] if place < 10 else [row]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = [f"d{place},e{place},true" for place in range(10)]
    labels += [f"d{place},d{place + 1},false" for place in range(10, 29)]
    (folder / "labels.csv").write_text("a,b,same\n" + "\n".join(labels) + "\n")
    return folder


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_page_runs(folder, command):
    words = shlex.split(command)[1:]
    out = folder / re.sub(r"\W+", "-", command)
    if words[0] == "evaluate":
        made = CliRunner().invoke(app, ["dedup", str(folder / "in.jsonl"), "-o", str(out), "-q"])
        assert made.exit_code == 0, made.output
    names = {"IN": folder / "in.jsonl", "OUT": out, "labels.csv": folder / "labels.csv"}
    done = CliRunner().invoke(app, [str(names.get(word, word)) for word in words])
    assert done.exit_code == 0, f"{done.output}\n{done.exception}"
    if words[0] == "dedup":
        removed = json.loads((out / "summary.json").read_text(encoding="utf-8"))["removed"]
        assert removed >= 10, "the documents that were entered twice are removed"


def clusters(*members: list[str]) -> pa.Table:
    """A table of clusters in which the first of each is kept."""
    rows = [
        {
            "cluster": number,
            "id": id,
            "kept": id == ids[0],
            "duplicate_of": None if id == ids[0] else ids[0],
            "similarity": None if id == ids[0] else 0.5,
        }
        for number, ids in enumerate(members)
        for id in ids
    ]
    return pa.Table.from_pylist(rows)


def labelled(
    same: list[str], different: list[str] | None = None, complete: list[bool] | None = None
) -> Labelled:
    def pairs(names: list[str]) -> pa.Table:
        return pa.table({"a": [one[0] for one in names], "b": [one[1] for one in names]})

    documents = pa.table({"id": list("abcdef"), "text": [f"text of {one}" for one in "abcdef"]})
    apart = None if different is None else pairs(different)
    known = None if complete is None else np.array(complete)
    return Labelled("small", "", "", documents, pairs(same), apart, known)


def test_scores_by_complete_labels():
    """Found: ab, ac, bc, de. True: ab, de, ef."""
    found = choosing.scores(labelled(["ab", "de", "ef"]), clusters(["a", "b", "c"], ["d", "e"]))
    assert (found["precision"], found["recall"]) == (0.5, round(2 / 3, 4))
    assert found["f1"] == round(4 / 7, 4)
    assert (found["removed"], found["largest"]) == (3, 3)
    assert found["wrong"] == ["text of c", "text of a"]
    assert found["missed"] == ["text of e", "text of f"]


def test_scores_by_labelled_pairs_alone():
    """The pair bc is unknown, and counts neither way."""
    found = choosing.scores(labelled(["ab"], ["ac", "ef"]), clusters(["a", "b", "c"]))
    assert (found["precision"], found["recall"], found["missed"]) == (0.5, 1.0, None)


def test_precision_counts_documents_whose_pairs_are_all_known():
    complete = [True, True, False, True, True, True]
    found = choosing.scores(
        labelled(["ab", "cd"], None, complete), clusters(["a", "b", "c"], ["d", "e"])
    )
    # Among a, b, d, e and f: ab is right, de is wrong.
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert found["wrong"] == ["text of e", "text of d"]


def test_nothing_found():
    empty = clusters(["a", "b"]).slice(0, 0)
    found = choosing.scores(labelled(["ab"]), empty)
    assert (found["precision"], found["recall"], found["f1"]) == (None, 0.0, 0.0)


def test_topics_that_share_half_of_their_words_are_left_out():
    topics = ["How to write a test", "How to write a view", "Deploying with another web server"]
    assert choosing_collections._topics(topics) == [
        "how to write a test",
        "deploying with another web server",
    ]


@with_data
def test_made_collections_are_the_same_every_time_and_their_truth_is_by_origin():
    first, again = COLLECTIONS["contacts"](), COLLECTIONS["contacts"]()
    assert first.documents.equals(again.documents)
    origins = [[id.partition("-")[0] for id in first.same[side].to_pylist()] for side in "ab"]
    assert origins[0] == origins[1]
    assert len(set(first.documents["id"].to_pylist())) == len(first.documents)


@with_data
def test_a_trial_measures_every_command_for_a_collection(tmp_path):
    choosing.main(["--only", "persons", "offers", "--documents", "60", "--out", str(tmp_path)])
    result = Result.load(choosing.BENCHMARK, tmp_path)
    kinds = {(row["collection"], row["kind"]) for row in result.rows}
    assert {("persons", "people"), ("persons", "defaults"), ("offers", "harmful")} <= kinds
    for row in result.rows:
        assert row["documents"] == 60
        assert 0 <= row["recall"] <= 1
        assert row["seconds"] > 0
