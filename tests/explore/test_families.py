"""The pages of a folder of passages."""

import re

import pytest
from tests.explore.browsing import visits

import neardup as nd
from neardup.explore.app import routes_of_passages
from neardup.parts.passages.opened import PassagesFolder, is_passages_folder

NOTICE = "You may use this notice for <b>whatever</b> purpose you can think of."
MENU = "Home, news, products, about us, contact, imprint: all of it."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("passages") / "out"
    own = [f"Document {n} has a text of its own, with the number {n * n}." for n in range(60)]
    texts = [f"{NOTICE}\n\n{one}" + (f"\n\n{MENU}" if n < 3 else "") for n, one in enumerate(own)]
    nd.passages(texts, remove="boilerplate:10").save(path)
    return path


@pytest.fixture(scope="module")
def visit(folder):
    return visits(routes_of_passages(PassagesFolder(folder)))


def test_the_largest_family_comes_first_and_is_escaped(visit):
    page = visit("/")
    assert "2 families" in page
    assert page.index("You may use") < page.index("Home, news")
    assert "&lt;b&gt;whatever&lt;/b&gt;" in page
    assert "<b>whatever" not in page


def test_families_are_searched_and_sorted(visit):
    assert "You may use" not in visit("/?search=imprint+home")
    assert "No family has all these words" in visit("/?search=nothing+of+this")
    page = visit("/?sort=words")
    assert page.index("You may use") < page.index("Home, news")
    visit("/?sort=nonsense", 400)
    visit("/?page=7", 404)


def test_a_family_says_where_it_occurs(visit):
    page = visit("/families/1")
    assert "in 60 documents" in page
    assert len(re.findall(r'class="badge removed"', page)) == 50  # on the first page
    assert len(re.findall(r'class="badge removed"', visit("/families/1?page=2"))) == 10
    assert 'class="badge kept"' in visit("/families/2")
    for wrong in ("0", "3", "x", "1e9"):
        visit(f"/families/{wrong}", 404)


def test_a_document_says_which_passages_it_shares(visit):
    page = visit("/document?id=1")
    assert "2 passages of this document occur in others, too" in page
    for missing in ("61", "x", ""):
        visit(f"/document?id={missing}", 404)


def test_only_folders_of_passages_are_opened(folder, tmp_path):
    assert is_passages_folder(folder)
    nd.dedup(["one text", "another"]).save(tmp_path / "run")
    assert not is_passages_folder(tmp_path / "run")
    assert not is_passages_folder(tmp_path / "missing")
    with pytest.raises(nd.InputError, match="no folder that neardup passages wrote"):
        PassagesFolder(tmp_path / "run")
