"""The hub's objects that are jobs'. A part of the memory."""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct, field

from fairway.domain.held_object import HeldObject
from fairway.hub.job_object import JobObject
from fairway.hub.telling.pending_update import HeardWord
from fairway.runtime.ports import Row
from fairway.workloads.references import Reference


class GangFollower(Struct, frozen=True):
    """`job` is that of the pod with the uid `leader`."""

    leader: str
    job: str


class ObjectsInHand(Struct):
    """`asked_again` are the uids of objects of which a message says that a change may be taken over now; `put_off` are
    the ids of messages that are heard again once all objects are listed; `stirred` has the uid of an object whose turn
    may come, with those of all others that refer to the same, by what is shown of that."""

    asked_again: set[str] = field(default_factory=set)
    put_off: set[str] = field(default_factory=set)
    stirred: dict[Reference, str] = field(default_factory=dict)


class KnownObjects:
    """By uid. `place` is that of what a watch has shown last. `left` are those that were deleted and whose traces are
    still to be removed. Until all are `listed`, words on objects that have not been seen wait (`early`), and `unseen`
    are live jobs, by the uid of an object that has not been; `unread` those whose rows are still to be read.
    `followers` are pods, by uid, of live jobs that stand for another one.
    `held_before` are those that are held by the store's rows, whoever held them, and that have not been seen.
    `in_hand` is what the messages of this batch say."""

    def __init__(self) -> None:
        self.there: dict[str, JobObject] = {}
        self.left: dict[str, JobObject] = {}
        self.listed = False
        self.place = 0
        self.early: dict[str, list[HeardWord]] = {}
        self.unseen: dict[str, str] = {}
        self.unread: list[str] = []
        self.followers: dict[str, GangFollower] = {}
        self.held_before: dict[str, HeldObject] = {}
        self.in_hand = ObjectsInHand()

    def remember_held(self, found: Mapping[str, Row]) -> None:
        rows = sorted(found.items())
        self.held_before = {uid: msgspec.json.decode(row.data, type=HeldObject) for uid, row in rows}

    def get(self, uid: str) -> JobObject | None:
        return self.there.get(uid)

    def binds(self, uid: str) -> bool:
        """Whether there is an object that has a binding of its own: the pods of a gang have their leader's."""
        known = self.there.get(uid)
        return known is not None and not known.leader

    def __getitem__(self, uid: str) -> JobObject:
        return self.there[uid]

    def __contains__(self, uid: object) -> bool:
        return uid in self.there

    def __iter__(self) -> Iterator[str]:
        return iter(self.there)
