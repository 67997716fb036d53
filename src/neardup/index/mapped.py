"""Large values where they lie in the map of the file, looked up once."""

from __future__ import annotations

from neardup.index.state import State


class Mapped:
    """The values of segments by kind and key, as addresses in the map.

    py-lmdb touches every page of a value whenever it is asked for: 90 µs for 53 MB. But what is
    stored under a segment's key never changes, and stays where it is for as long as a state
    names the segment and the map is not made larger.
    """

    def __init__(self) -> None:
        self._map = 0
        self._revision = -1
        self._values: dict[tuple[bytes, int], memoryview] = {}

    def follow(self, state: State, map_number: int) -> None:
        """Forget what is not named in that state, or was found in another map."""
        if map_number != self._map:
            self._values = {}
        elif state.revision != self._revision:
            named = {segment.key for segment in state.segments}
            self._values = {key: data for key, data in self._values.items() if key[1] in named}
        self._map = map_number
        self._revision = state.revision

    def get(self, kind: bytes, key: int) -> memoryview | None:
        """A value that is known."""
        return self._values.get((kind, key))

    def put(self, kind: bytes, key: int, data: memoryview) -> None:
        """Remember a value that was committed."""
        self._values[kind, key] = data
