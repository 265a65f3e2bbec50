"""A row that comes back as it was written here is only named: recorder and replay have to mean the same by it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from fairway.domain.decision import NOTHING, Decision, Heard, Put, Step, nodes
from fairway.replay.replayed_memory import ReplayedMemory
from fairway.replay.stages import ReplayedStage
from fairway.runtime.ports import ReadRows, Row, Wanted
from fairway.runtime.views.recorded_entries import EntryWriter, Judged, Kept, Took, WantsAsked
from fairway.wire import views

TABLE = nodes("c1")


class NodesOnly:
    """Takes what changed."""

    settings = ()

    def __init__(self) -> None:
        self.took: list[Any] = []

    def begin(self) -> None: ...

    def wants(self, heard: Sequence[Heard[str]], now: int) -> Wanted:
        return Wanted()

    def take(self, found: ReadRows, heard: Sequence[Heard[str]], now: int) -> None:
        self.took += found.changes

    def apply(self, step: Step) -> None: ...

    def refused(self, step: Step) -> None: ...

    @staticmethod
    def told(message: Any) -> Any:
        return message

    @staticmethod
    def told_row(table: str, data: bytes) -> bytes:
        return data


def wrote(rev: int) -> Step:
    return Step((Put(TABLE, "n1", {"rev": rev}, rev=rev),))


def row(rev: int) -> tuple[str, str, Row]:
    return TABLE, "n1", Row(rev, msgspec.json.encode({"rev": rev}))


class Told:
    """What is recorded is replayed at once, into a memory of its own."""

    def __init__(self) -> None:
        self.writer = EntryWriter()
        self.memory: Any = NodesOnly()  # no more of a memory is needed
        decode = msgspec.json.Decoder(str).decode
        stage = ReplayedStage("reserver", lambda catalog: self.memory, lambda *given: NOTHING, decode)
        self.seen = ReplayedMemory(stage, None, views.Whole(0, 1))  # type: ignore[arg-type]  # nothing is of the record

    async def found(self, *changes: tuple[str, str, Row]) -> list[str]:
        """The kinds of entries that they are told as."""
        heard = [Heard("m1", "one"), Heard("m2", "two")]
        await self.seen.hear(self._one(WantsAsked(0, heard, self.memory)))
        told: list[Any] = [*self.writer.entries(Took(0, {}, changes, {}, 1, self.memory))]
        for entry in told[:-1]:
            self.seen.known_row(entry) if isinstance(entry, views.KnownRow) else self.seen.row(entry)
        await self.seen.found(told[-1])
        self.heard = heard
        return [type(entry).__name__ for entry in told[:-1]]

    def decided(self, *steps: Step, refused: Sequence[int] = ()) -> None:
        made = [(heard, Decision((step,))) for heard, step in zip(self.heard, steps, strict=False)]
        no = [steps[place] for place in refused]
        told = self._one(Judged(0, made, no, steps if no else ()))
        self.seen.apply(steps)
        self.seen.answered(told.refused)

    def _one(self, kept: Kept) -> Any:
        (entry,) = self.writer.entries(kept)
        return entry


@pytest.mark.parametrize(
    ("before", "steps", "refused", "back"),
    [
        pytest.param([], [2, 3], [], 3, id="of two writes the later one comes back"),
        pytest.param([], [2, 3], [1], 2, id="the later one was refused, so the first comes back"),
        pytest.param([2], [3], [0], 2, id="one was refused while that of an earlier batch is on its way back"),
    ],
)
async def test_a_row_that_comes_back_is_the_last_write_that_the_store_took(
    before: list[int], steps: list[int], refused: list[int], back: int
) -> None:
    told = Told()
    await told.found(row(1))
    if before:
        told.decided(*map(wrote, before))
        await told.found()
    told.decided(*map(wrote, steps), refused=refused)
    assert await told.found(row(back)) == ["KnownRow"]
    assert told.memory.took == [row(1), row(back)]
    assert told.seen.differing == []
