"""JSON objects: each one parsed and judged on its own, whatever they were cut out of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from neardup.errors import InputError
from neardup.kernels.json_lines import MustBe
from neardup.read.columns import Wanted
from neardup.read.limits import MOST_DEPTH, TOO_DEEP, quoted, too_deep
from neardup.read.utf8 import invalid_utf8

# A key that none of this many objects has is taken for a misspelt column, not for a rare one.
OBJECTS_BEFORE_MISSING = 1000
_ORJSON_DEPTH = "depth limit"
_LARGEST_ID = 2**63 - 1
JSON_TYPES = {
    bool: "a boolean",
    int: "a number",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def parsed(value: bytes) -> tuple[Any, str | None]:
    """Parse a piece of JSON, or say what is wrong with it."""
    try:
        item = orjson.loads(value)
        # Counting is much quicker than looking, and as a rule it is enough.
        if value.count(b"[") + value.count(b"{") > MOST_DEPTH and too_deep(item):
            return None, TOO_DEEP
        return item, None
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_ORJSON_DEPTH):
            return None, TOO_DEEP
        broken = f"broken JSON at character {error.pos + 1}, {error.msg}"
        return None, invalid_utf8(value) or broken


class ObjectJudge:
    """Says what is wrong with an object, and refuses a file that lacks a column altogether.

    `content_fault` says why an object's content, whatever that is, cannot be used.
    `has_id` tells whether the objects found good have ids.
    """

    def __init__(
        self, file: str, wanted: Wanted, content_fault: Callable[[dict[str, Any]], str | None]
    ) -> None:
        self._file = file
        self._content_fault = content_fault
        self._wanted = wanted
        self._unseen = set(wanted.required)
        self._keys: dict[str, None] = {}
        self._objects = 0
        self._first_id: tuple[type, str] | None = None
        # Without --id, the first object decides whether the file has ids.
        self.has_id: bool | None = True if wanted.id_required else None

    def fault(self, item: Any, where: str) -> str | None:
        """Say why an item is no object with the content and the id that it needs."""
        if type(item) is not dict:
            return f"{JSON_TYPES[type(item)]}, not an object"
        if self._unseen:
            self._look_for_columns(item)
        if self.has_id is None:
            self.has_id = self._wanted.id is not None and self._wanted.id in item
        fault = self._content_fault(item)
        if fault or self._wanted.id is None:
            return fault
        if self.has_id:
            return self._id_fault(item, self._wanted.id, where)
        if self._wanted.id in item:
            raise InputError(
                f"{self._file} has no {self._wanted.id!r} in its first row but one on {where}; "
                f"set rows without one aside with --id {self._wanted.id}, "
                "or number the rows with --id row"
            )
        return None

    def expected_id(self) -> dict[str, MustBe] | None:
        """What the id of an object must be like, so that it need not be judged.

        None as long as the first objects of a file have not told.
        """
        if self._unseen or self.has_id is None:
            return None
        if self._wanted.id is None:
            return {}
        if not self.has_id:
            return {self._wanted.id: "missing"}
        if self._first_id is None:
            return None
        return {self._wanted.id: "string" if self._first_id[0] is str else "whole"}

    def finish(self) -> None:
        """Refuse the file if no object had some column."""
        if self._unseen and self._objects:
            self._wanted.require(self._file, self._keys)

    def _look_for_columns(self, item: dict[str, Any]) -> None:
        self._unseen.difference_update(item)
        self._keys.update(dict.fromkeys(item))
        self._objects += 1
        if self._objects == OBJECTS_BEFORE_MISSING:
            self.finish()

    def _id_fault(self, item: dict[str, Any], name: str, where: str) -> str | None:
        value = item.get(name)
        kind = type(value)
        if kind is not str and kind is not int:
            return unlike(item, name, "a string or a whole number")
        if self._first_id is None:
            self._first_id = (kind, where)
        elif self._first_id[0] is not kind:
            raise InputError(
                f"{self._file} has {JSON_TYPES[self._first_id[0]]} as id on {self._first_id[1]} "
                f"and {JSON_TYPES[kind]} on {where}; make all ids strings or all whole numbers, "
                "or number the rows with --id row"
            )
        if isinstance(value, int) and value > _LARGEST_ID:
            raise InputError(
                f"{self._file} has the id {quoted(value)} on {where}, more than a signed 64-bit "
                "number can hold; write such ids as strings, or number the rows with --id row"
            )
        return None


def unlike(item: dict[str, Any], name: str, right: str) -> str:
    """Say in which way the value of a key is not what it should be."""
    if name not in item:
        return f"no {name!r}"
    if item[name] is None:
        return f"{name!r} is null"
    return f"{name!r} is {JSON_TYPES[type(item[name])]}, not {right}"
