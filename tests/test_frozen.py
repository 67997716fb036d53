"""Frozen dataclasses that are cheap to define behave like those of the standard library."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import cached_property

import pytest

from neardup import frozen

KINDS = [dataclasses.dataclass, frozen.dataclass]


@frozen.dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.5
    names: list[str] = field(default_factory=list, compare=False)
    hidden: int = field(default=3, repr=False)

    def __post_init__(self):
        if self.x < 0:
            raise ValueError(self.x)

    @cached_property
    def double(self):
        return 2 * self.x


@pytest.fixture(params=KINDS, ids=["standard", "ours"])
def made(request):
    dataclass = request.param

    @dataclass(frozen=True)
    class Base:
        a: int
        b: str = "b"

    @dataclass(frozen=True)
    class Derived(Base):
        c: object = None

    @dataclass(frozen=True, eq=False)
    class Identity:
        a: int

    @dataclass(frozen=True, repr=False)
    class Explicit:
        a: int

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "mine"

    @dataclass(frozen=True)
    class Hashed:
        a: int

        def __hash__(self):
            return 7

    @dataclass(frozen=True, order=True)
    class Ordered:
        a: int

    @dataclass
    class Mutable:
        a: int

    return [Base, Derived, Identity, Explicit, Hashed, Ordered, Mutable]


def test_values(made):
    base, derived, identity, explicit, hashed, ordered, mutable = made
    assert repr(derived(1, c=[2])).endswith("Derived(a=1, b='b', c=[2])")
    assert base(1) == base(1, "b") != base(2)
    assert base(1) != derived(1)
    assert (base(1) == 1) is False
    assert hash(base(1)) == hash(base(1)) == hash((1, "b"))
    one = identity(1)
    assert one != identity(1)
    assert hash(one) == object.__hash__(one)
    assert explicit(1) == explicit(2)
    assert repr(explicit(1)) == "mine"
    assert hash(explicit(1)) == hash((1,))
    assert hash(hashed(1)) == 7
    assert ordered(1) < ordered(2)
    changed = mutable(1)
    changed.a = 2
    assert changed == mutable(2)
    assert base.__match_args__ == ("a", "b")
    with pytest.raises(TypeError):
        base()


def test_they_are_frozen(made):
    for kind in made[:-1]:
        one = kind(1)
        with pytest.raises(FrozenInstanceError):
            one.a = 2
        with pytest.raises(FrozenInstanceError):
            one.other = 2
        with pytest.raises(FrozenInstanceError):
            del one.a
        assert one.a == 1


def test_a_list_that_holds_itself_has_a_repr(made):
    held = []
    one = made[1](1, c=held)
    held.append(one)
    assert repr(one).endswith("Derived(a=1, b='b', c=[...])")


def test_what_the_library_does_with_them():
    point = Point(1)
    assert replace(point, x=2) == Point(2)
    assert asdict(point) == {"x": 1, "y": 0.5, "names": [], "hidden": 3}
    assert repr(point) == "Point(x=1, y=0.5, names=[])"
    assert point == Point(1, names=["a"]) != Point(1, hidden=4)
    assert point.double == 2
    for other in (pickle.loads(pickle.dumps(point)), copy.copy(point), copy.deepcopy(point)):
        assert other == point
        assert other.double == 2
    with pytest.raises(ValueError, match="-1"):
        Point(-1)
