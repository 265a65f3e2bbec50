"""The hub's objects that are jobs'. A part of the memory."""

from collections.abc import Iterator, Mapping

import msgspec

from fairway.domain.held_object import HeldObject
from fairway.hub.job_object import JobObject
from fairway.hub.telling.pending_update import HeardWord
from fairway.runtime.ports import Row


class KnownObjects:
    """By uid. `place` is that of what a watch has shown last. `left` are those that were deleted and whose traces are
    still to be removed. Until all are `listed`, words on objects that have not been seen wait (`early`), and `unseen`
    are live jobs, by the uid of an object that has not been; `unread` those whose rows are still to be read.
    `held_before` are those that are held by the store's rows, whoever held them, and that have not been seen.
    `asked_again` are those of which a message in hand says that a change may be taken over now."""

    def __init__(self) -> None:
        self.there: dict[str, JobObject] = {}
        self.left: dict[str, JobObject] = {}
        self.listed = False
        self.place = 0
        self.early: dict[str, list[HeardWord]] = {}
        self.unseen: dict[str, str] = {}
        self.unread: list[str] = []
        self.held_before: dict[str, HeldObject] = {}
        self.asked_again: set[str] = set()

    def remember_held(self, found: Mapping[str, Row]) -> None:
        rows = sorted(found.items())
        self.held_before = {uid: msgspec.json.decode(row.data, type=HeldObject) for uid, row in rows}

    def get(self, uid: str) -> JobObject | None:
        return self.there.get(uid)

    def __getitem__(self, uid: str) -> JobObject:
        return self.there[uid]

    def __contains__(self, uid: object) -> bool:
        return uid in self.there

    def __iter__(self) -> Iterator[str]:
        return iter(self.there)
