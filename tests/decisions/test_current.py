"""What holds now: later words replace earlier ones, and reviewers who disagree are not obeyed."""

from itertools import combinations

import pytest
from hypothesis import given, strategies as st
from tests.deduplication import told_twin

from neardup.decisions import Current, Decision, Named, content_of
from neardup.decisions.rules import Said, join_same, weighed

A, B, C, D = (Named(name, content_of(name)) for name in "abcd")


def history(*said):
    """Decisions, one a second: (says, documents, by)."""
    return [
        Decision(says, tuple(documents), by, f"2026-01-01T00:00:{number:02}.000Z", f"k{number}")
        for number, (says, documents, by) in enumerate(said)
    ]


def test_the_latest_word_of_a_reviewer_counts():
    current = Current.of(history(("same", [A, B], "ann"), ("different", [B, A], "ann")))
    assert current.same == ()
    assert [set(pair) for pair in current.different] == [{A, B}]
    assert [one.says for one in current.of_pair(A, B)] == ["different"]


def test_a_skip_takes_an_opinion_back():
    current = Current.of(history(("same", [A, B], "ann"), ("skip", [A, B], "ann")))
    assert current.same == current.different == ()
    assert [one.says for one in current.of_pair("a", "b")] == ["skip"]


def test_a_later_pair_replaces_that_pair_of_a_list():
    current = Current.of(history(("same", [A, B, C], "ann"), ("different", [A, B], "ann")))
    assert {frozenset(pair) for pair in current.same} == {frozenset((A, C)), frozenset((B, C))}
    assert [one.says for one in current.of_pair(A, B)] == ["different"]
    assert [one.says for one in current.of_pair(A, C)] == ["same"]


def test_reviewers_who_disagree_are_reported_and_not_obeyed():
    current = Current.of(history(("same", [A, B], "ann"), ("different", [A, B], "bob")))
    assert current.same == current.different == ()
    [disagreement] = current.disagreements
    assert set(disagreement.documents) == {A, B}
    assert str(disagreement) == ("a and b: reviewers disagree (ann says same, bob says different)")


def test_a_skip_is_no_disagreement():
    current = Current.of(history(("same", [A, B], "ann"), ("skip", [A, B], "bob")))
    assert current.same == ((A, B),)
    assert current.disagreements == ()


def test_another_document_to_keep_replaces_the_first():
    current = Current.of(history(("keep", [A, B], "ann"), ("keep", [B, A], "ann")))
    assert current.pinned == (B,)
    current = Current.of(history(("keep", [A, B, C], "ann"), ("keep", [B, A], "ann")))
    assert current.pinned == (B,)
    current = Current.of(history(("keep", [A, B], "ann"), ("keep", [C, D], "ann")))
    assert current.pinned == (A, C)


def test_reviewers_who_keep_different_documents_disagree():
    current = Current.of(history(("keep", [A, B], "ann"), ("keep", [B, A], "bob")))
    assert current.pinned == ()
    assert "ann says keep a, bob says keep b" in str(current.disagreements[0])


def test_keep_and_same_go_together():
    current = Current.of(history(("same", [A, B], "ann"), ("keep", [A, B], "ann")))
    assert current.same == ((A, B),)
    assert current.pinned == (A,)


def test_the_other_collection_has_ids_of_its_own():
    other = Named("a", A.content, other=True)
    current = Current.of(history(("different", [A, other], "ann")))
    assert current.different == ((A, other),)
    assert current.of_document("a", other=True) == current.of_document("a")
    assert current.of_pair(A, other)
    assert not current.of_pair(A, B)


@pytest.mark.parametrize("order", ["before", "after"])
def test_an_imported_decision_counts_by_its_time(order):
    early, late = history(("same", [A, B], "ann"), ("different", [A, B], "ann"))
    current = Current.of([late, early] if order == "before" else [early, late])
    assert current.decisions == (late,)


@given(
    said=st.lists(
        st.tuples(
            st.sampled_from(["same", "different", "keep", "skip"]),
            st.lists(st.integers(0, 6), min_size=2, max_size=5, unique=True),
            st.sampled_from("abc"),
        ),
        max_size=12,
    )
)
def test_decisions_are_weighed_as_defined(said):
    """The same as going through every pair of every list."""
    made = history(
        *((says, [Named(one, A.content) for one in places], by) for says, places, by in said)
    )
    found = weighed([Said(one, tuple(named.id for named in one.documents)) for one in made])
    twin = told_twin.weighed([(says, tuple(places), by) for says, places, by in said], 100)
    assert set(found.different) == twin.different
    assert set(found.pinned) == twin.pinned
    groups, links = {}, []

    def join(a, b, _decision):
        one, other = groups.setdefault(a, {a}), groups.setdefault(b, {b})
        if one is other:
            return True
        if any(frozenset(pair) in found.different for pair in combinations(one | other, 2)):
            return False
        links.append((a, b))
        one |= other
        groups.update(dict.fromkeys(one, one))
        return True

    join_same(found, join)
    assert links == twin.links
