"""Jobs that are complete are not done again: an engine that remembers what each job has sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from neardup.distributed.work import Work
from neardup.engines.exchange import Engine, Message, Tasks, packed, unpacked

_NOT_STORED = ("output", "output again")  # the folder that they write to goes with a failed run


class RememberingEngine:
    """Runs the jobs that the work folder has no result of; `say` is told about the others.

    `begin` is told the name of each job as it begins. `seconds` are those of all jobs, in order.
    """

    def __init__(
        self,
        engine: Engine,
        work: Work,
        begin: Callable[[str], object],
        say: Callable[[str], None],
    ) -> None:
        self._engine, self._work = engine, work
        self._begin, self._say = begin, say
        self.seconds: dict[str, float] = {}
        self.taken: list[str] = []

    @property
    def cores(self) -> int:
        return self._engine.cores

    def run(self, name: str, job: Sequence[Tasks]) -> list[Message]:
        """The messages of a job: those of an earlier run, or those that it sends now."""
        file = f"done/{name.replace(' ', '-')}"
        if self._work.exists(file):
            stored = unpacked(self._work.read(file))
            self._say(f"{name}: taken over from the work folder")
            self.taken.append(name)
            self.seconds[name] = stored["seconds"]
            blobs = stored["blobs"].tobytes()
            ends = stored["ends"].tolist()
            begins = [0, *ends][: len(ends)]
            return [
                Message(to, tag, blobs[begin:end])
                for to, tag, begin, end in zip(
                    stored["to"], stored["tag"], begins, ends, strict=True
                )
            ]
        self._begin(name)
        began = time.perf_counter()
        sent = self._engine.run(name, job)
        self.seconds[name] = time.perf_counter() - began
        if name not in _NOT_STORED:
            self._work.write(file, _stored(sent, self.seconds[name]))
        return sent


def _stored(sent: Sequence[Message], seconds: float) -> bytes:
    import numpy as np

    sizes = np.array([len(message.blob) for message in sent], np.int64)
    return packed(
        to=[message.to for message in sent],
        tag=[message.tag for message in sent],
        ends=np.cumsum(sizes),
        blobs=np.frombuffer(b"".join(bytes(message.blob) for message in sent), np.uint8),
        seconds=seconds,
    )
