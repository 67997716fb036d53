"""`dataclass`, for frozen classes that take a third of the time to define.

`dataclasses` compiles six methods of every frozen class, each from its source text. A small job
defines 75 such classes, which took a quarter of its time. Here `__init__` alone is compiled; the
other methods are the same functions for all classes.
"""

from __future__ import annotations

import dataclasses
from reprlib import recursive_repr

TYPE_CHECKING = False
if TYPE_CHECKING:  # type checkers see the original
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, repr=True, eq=True, **more):
        """As `dataclasses.dataclass`; a frozen class lets each field be set once, by `__init__`.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0)
        (Point(x=1, y=0), True)
        """

        def decorate(cls):
            if not frozen or more:
                return dataclasses.dataclass(cls, frozen=frozen, repr=repr, eq=eq, **more)
            own = vars(cls)
            methods = {"__setattr__": _set_once, "__delattr__": _refuse_to_delete}
            if repr and "__repr__" not in own:
                methods["__repr__"] = _repr
            if eq and "__eq__" not in own:
                methods["__eq__"] = _eq
            # A class that defines __eq__ alone has the __hash__ None.
            if eq and own.get("__hash__") is None:
                methods["__hash__"] = _hash
            if cls.__doc__ is None:  # it would be made from the signature, which takes long
                cls.__doc__ = cls.__name__
            made = dataclasses.dataclass(cls, repr=False, eq=False)
            for name, method in methods.items():
                setattr(made, name, method)
            return made

        return decorate if cls is None else decorate(cls)


def _set_once(self: object, name: str, value: object) -> None:
    held = self.__dict__
    if name in held or name not in self.__dataclass_fields__:  # type: ignore[attr-defined]
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    held[name] = value


def _refuse_to_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


@recursive_repr()
def _repr(self: object) -> str:
    fields = dataclasses.fields(self)  # type: ignore[arg-type]
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: object, other: object) -> object:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: object) -> int:
    return hash(_compared(self))


def _compared(self: object) -> tuple[object, ...]:
    fields = dataclasses.fields(self)  # type: ignore[arg-type]
    return tuple(getattr(self, field.name) for field in fields if field.compare)
