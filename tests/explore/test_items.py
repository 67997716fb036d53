"""The pages of a folder of contamination."""

import pytest
from tests.explore.browsing import visits

import neardup as nd
from neardup.explore.app import routes_of_contamination
from neardup.parts.contamination.opened import ContaminationFolder, is_contamination_folder

WHOLE = "What is the airspeed velocity of an <b>unladen</b> swallow in the rain?"
PART = "Which of the seven hills of Rome is the one where the emperors had lived?"
COPIED = "this is the one where the emperors had lived for many years"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("contamination") / "out"
    own = [f"Document {n} has a text of its own, with the number {n * n}." for n in range(60)]
    texts = [f"{one} {WHOLE}" for one in own] + [f"He said that {COPIED}."]
    items = {"quiz": [WHOLE, "A question that stands nowhere else at all, I hope?"], "exam": [PART]}
    nd.contamination(texts, items, output=path)
    return path


@pytest.fixture(scope="module")
def visit(folder):
    return visits(routes_of_contamination(ContaminationFolder(folder)))


def test_items_with_hits_are_listed_and_escaped(visit):
    page = visit("/")
    assert "2 items, by" in page
    assert page.index("airspeed velocity") < page.index("seven hills")
    assert "&lt;b&gt;unladen" in page
    assert "<b>unladen" not in page


def test_items_are_searched_sorted_and_chosen_by_benchmark(visit):
    assert "airspeed" not in visit("/?benchmark=exam")
    assert "seven hills" not in visit("/?search=SWALLOW")
    assert "No such item occurs" in visit("/?search=nowhere+else")
    assert "seven hills" in visit("/?sort=longest")
    visit("/?sort=nonsense", 400)
    visit("/?page=9", 404)


def test_an_item_says_where_it_occurs(visit):
    page = visit("/item?benchmark=quiz&item=0")
    assert "in 60 documents" in page
    assert page.count("<tr>") == 51  # a page of hits, and the header
    assert visit("/item?benchmark=quiz&item=0&page=2").count("<tr>") == 11
    visit("/item?benchmark=quiz&item=1", 404)
    visit("/item?benchmark=none&item=0", 404)


def test_a_document_says_which_items_are_in_it(visit):
    assert "exam 0" in visit("/document?id=60")
    for missing in ("99", "x", ""):
        visit(f"/document?id={missing}", 404)


def test_only_folders_of_contamination_are_opened(folder, tmp_path):
    assert is_contamination_folder(folder)
    assert not is_contamination_folder(tmp_path)
    with pytest.raises(nd.InputError, match="no folder that neardup contamination wrote"):
        ContaminationFolder(tmp_path)
