"""Room as an auditor adds it up: promises over nodes, and over what was seen there.

A member cluster's own scheduler may put a pod on another node than was planned for it. Where reports of the clusters
are at hand, a pod counts where it was seen, and only what was not seen yet counts where it was planned; without
reports everything counts where it was planned. Batch resources may become less under what was promised of them: of
these a promise has to fit what was reported when it was made.
"""

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from operator import itemgetter

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.history import Moment
from fairway.audit.evictions.kept_room import KeptRoom
from fairway.audit.job_history import JobHistory
from fairway.audit.promises import Promise, taken
from fairway.domain.batch_resources import PART_OF
from fairway.domain.resources import Resources, show
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from fairway.wire.fleet import Report

# A decision rests on some report from this long (ms) before it was said, the newest ones may not have arrived.
KNOWN_MS = 1_000


class _Move(Struct):
    """A promise made, or given up (None)."""

    job: str
    key: str
    promise: Promise | None
    sequence: int
    at: int


class AuditedRooms:
    """Takes promises and releases, and lays them out in the order of the record. A release is said before the room is
    given again, because the reserver hears of it from the record."""

    def __init__(self, nodes: Mapping[str, Mapping[str, Resources]], known_ms: int = KNOWN_MS) -> None:
        self._nodes = nodes
        self._known_ms = known_ms
        self._moves: list[_Move] = []
        self._open: dict[str, _Move] = {}
        self._given_up: dict[str, tuple[_Move, _Move]] = {}
        self._known: dict[str, dict[str, list[tuple[int, dict[str, Node]]]]] = {}

    def see(self, report: Report, source: str = "") -> None:
        """Reports of one cluster in the order of the stream. Each source is followed by itself: what one of them
        corrects, another one may still have told to those who decide."""
        states = self._known.setdefault(report.cluster, {}).setdefault(source, [(0, {})])
        state = {} if report.full else {name: node for name, node in states[-1][1].items() if name not in report.gone}
        state |= {node.name: node for node in report.nodes}
        states.append((max(report.at, states[-1][0]), state))

    def follow(self, life: JobHistory, spoken: Spoken) -> None:
        """After `life` has read the message: its room given up if it has no open attempt, or taken if it got one."""
        message = spoken.message
        if life.attempts.open is None or isinstance(message, wire.Reserved):
            made = self._open.pop(life.job, None)
            if made is not None:
                over = _Move(life.job, made.key, None, spoken.sequence, message.at)
                self._given_up[life.job] = (made, over)
                self._moves.append(over)
        self._earlier(life.job, spoken.sequence)
        if isinstance(message, wire.Reserved):
            promise = Promise(message.cluster, message.slots, life.asked.requests, life.tenant)
            key = f"{life.job}/{message.attempt}"
            self._open[life.job] = _Move(life.job, key, promise, spoken.sequence, message.at)
            self._moves.append(self._open[life.job])

    def _earlier(self, job: str, sequence: int) -> None:
        """What follows a release by its rev, and stands before it, shows that it was known by then. Nobody acted upon
        a promise that was given up before it was said: it takes no room."""
        if job in self._given_up:
            made, over = self._given_up[job]
            over.sequence = min(over.sequence, sequence)
            if over.sequence < made.sequence:
                made.promise = None

    def breaches(self, kept: KeptRoom) -> Iterator[Violation]:
        """With those that have taken what is `kept` for others, and those that were evicted for room in vain."""
        given: dict[str, Promise] = {}
        made: dict[str, int] = {}
        kept.begin()
        # One that waited for an earlier event of its job stands where it was stored, not where it could be read.
        for move in sorted(self._moves, key=lambda move: move.sequence):
            promise = move.promise
            yield from kept.chosen(move.sequence, given, self)
            if promise is None:
                kept.released(move.key, given.pop(move.key, None), move.at)
                continue
            given[move.key] = promise
            made[move.key] = move.at
            here = {name: one for name, one in given.items() if one.cluster == promise.cluster}
            # A word that came late stands after promises that were made after it, by what was seen until then.
            newest = max(made[name] for name in here)
            for node in dict.fromkeys(slot.node for slot in promise.slots):
                text = self._overfull(here, promise, node, (move.at, newest))
                if text:
                    yield Violation(move.job, move.sequence, "room", text)
                now = Moment(move.sequence, move.at)
                text = kept.taken_by(move.job, (promise.cluster, node), now, here, self)
                if text:
                    yield Violation(move.job, move.sequence, "kept", text)
        yield from kept.chosen(sys.maxsize, given, self)

    def _overfull(self, given: Mapping[str, Promise], promise: Promise, node: str, times: tuple[int, int]) -> str:
        """Why the promises on a node are too much for this one, by all that may have been known when it was made, and
        until the newest of them was; empty if they fit."""
        have = self._nodes.get(promise.cluster, {}).get(node)
        if have is None:
            return f"{promise.cluster} has no node {node}"
        asked = promise.planned({}).get(node, {})
        text = ""
        for state in self.states(promise.cluster, *times):
            total = taken(given, state, node)
            # Who asks for nothing of what there is too little of has not taken it.
            judged = {name: amount for name, amount in total.items() if name in asked}
            text = _too_much({**have, **_batch_in(state, node)}, judged)
            if not text:
                return ""
        return f"{node} of {promise.cluster} {text}"

    def too_much(self, where: tuple[str, str], state: Mapping[str, Node], total: Resources) -> str:
        """What of this is too much for a node as it was; empty when it is not."""
        cluster, node = where
        return _too_much({**self._nodes.get(cluster, {}).get(node, {}), **_batch_in(state, node)}, total)

    def states(self, cluster: str, at: int, until: int = 0) -> Iterator[dict[str, Node]]:
        """What reports showed at `at`, in the time before and up to `until`, by each source, newest first; nothing when
        there were no reports."""
        for states in self._known.get(cluster, {"": [(0, {})]}).values():
            # There may be a hundred thousand of them, and they are asked for with every promise.
            for place in range(bisect_right(states, max(at, until), key=itemgetter(0)) - 1, -1, -1):
                since, state = states[place]
                yield state
                if since < at - self._known_ms:
                    break


def _batch_in(state: Mapping[str, Node], node: str) -> Resources:
    """The batch resources that a node had by its report; of a node that was not reported nobody knows others than those
    that it has for good."""
    row = state.get(node)
    return {name: row.allocatable.get(name, 0) for name in PART_OF} if row is not None else {}


def _too_much(have: Resources, total: Resources) -> str:
    for name, amount in sorted(total.items()):
        most = have.get(name, amount if name == "pods" else 0)
        if amount > most:
            return f"has {show(name, most)} {name}, but {show(name, amount)} are reserved or running"
    return ""
