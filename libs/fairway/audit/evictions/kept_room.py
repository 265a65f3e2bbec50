"""Room that is kept for claims: nobody else takes it, and nobody was evicted for it whose leaving makes no difference.

Looked at as room is (`audit/room.py`): on what is promised and what was seen, without the attempts that leave.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import msgspec
from msgspec import Struct

from fairway.audit.attempts import Violation
from fairway.audit.evictions.claims import AuditedClaim, Claims
from fairway.audit.evictions.history import Moment
from fairway.audit.promises import Promise, taken
from fairway.domain.preemption.claim import KEPT_MS
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from fairway.wire.preemption.evictions import Victim

Given = Mapping[str, Promise]
# Of the key of an attempt.
Leaves = Callable[[str], bool]


class AuditedNodes(Protocol):
    """What is known of nodes: the states that reports showed about a time, and what of amounts is too much there."""

    def states(self, cluster: str, at: int) -> Iterator[dict[str, Node]]: ...
    def too_much(self, where: tuple[str, str], state: Mapping[str, Node], total: Resources) -> str: ...


class KeptPromise(Struct, frozen=True):
    """What is kept for a claim since a moment: until other room is, or the claim is over. `victims` had to leave first:
    none, where it was chosen anew."""

    claim: AuditedClaim
    promise: Promise
    since: Moment
    victims: int

    def holds(self, job: str, now: Moment) -> bool:
        """Whether it is there at this moment, and not for this job. Nobody ends a claim whose time is over by word."""
        claim = self.claim
        if claim.said.job == job or self.since.place >= now.place or claim.until <= now.at or self.past(now.place):
            return False
        if any(placed < now.place < lost for placed, lost in claim.unsure):
            return False
        return claim.over is None or claim.over.at > now.at

    def past(self, place: int) -> bool:
        """Whether it is over by this place of the record: then it is at every later one."""
        claim = self.claim
        if self.since.place < claim.nominated_at.place < place:
            return True
        return claim.over is not None and claim.over.place <= place


class KeptRoom:
    """`recalled` is when attempts were told to leave, by their keys, and `removed` has the places of the words that
    they have left."""

    def __init__(self, claims: Claims, known_ms: int) -> None:
        self.kept: list[KeptPromise] = []
        self.recalled: dict[str, Moment] = {}
        self.removed: dict[str, int] = {}
        self._claims = claims
        self._known_ms = known_ms
        self._lately: list[tuple[int, str, Promise]] = []
        self._there: dict[str, list[KeptPromise]] = {}
        self._entered = self._judged = 0

    def begin(self) -> None:
        """From here on it is asked in the order of the record."""
        self.kept.sort(key=lambda one: one.since.place)
        self._lately = []
        self._there = {}
        self._entered = self._judged = 0

    def released(self, key: str, promise: Promise | None, at: int) -> None:
        if promise is not None:
            self._lately = [one for one in self._lately if one[0] >= at - self._known_ms]
            self._lately.append((at, key, promise))

    def taken_by(self, job: str, where: tuple[str, str], now: Moment, given: Given, nodes: AuditedNodes) -> str:
        """Why what is promised to a job there is not its own; empty when it is."""
        cluster, node = where
        kept = [one for one in self._held(cluster, job, now) if any(slot.node == node for slot in one.promise.slots)]
        if not kept:
            return ""
        leaves = self._leaves(now)
        text = ""
        for state in nodes.states(cluster, now.at):
            total = _beside(given, state, leaves, node)
            for one in kept:
                _add(total, one.promise.planned({}).get(node, {}))
            text = nodes.too_much(where, state, total)
            if not text:
                return ""
        whose = ", ".join(one.claim.said.job for one in kept)
        return f"{node} of {cluster} {text} with what is kept for {whose}"

    def _held(self, cluster: str, job: str, now: Moment) -> list[KeptPromise]:
        """What is kept in a cluster for others than this job. Claims are many, and few of them are open at a time."""
        while self._entered < len(self.kept) and self.kept[self._entered].since.place < now.place:
            one = self.kept[self._entered]
            self._there.setdefault(one.promise.cluster, []).append(one)
            self._entered += 1
        self._there[cluster] = [one for one in self._there.get(cluster, ()) if not one.past(now.place)]
        return [one for one in self._there[cluster] if one.holds(job, now)]

    def _leaves(self, now: Moment) -> Leaves:
        return lambda key: self.recalled.get(key, now).place < now.place

    def chosen(self, place: int, given: Given, nodes: AuditedNodes) -> Iterator[Violation]:
        """Of the claims that got their room before this place: whoever was evicted in vain."""
        while self._judged < len(self.kept) and self.kept[self._judged].since.place < place:
            kept = self.kept[self._judged]
            self._judged += 1
            for spoken in kept.claim.victims if kept.victims else ():
                message = spoken.message
                named = self._claims.named(spoken)
                if named is None or named.quota or not isinstance(message, wire.Evicted):
                    continue
                text = self._needless(kept, named, given, nodes)
                if text:
                    yield Violation(message.job, spoken.sequence, "needed", text)

    def _needless(self, kept: KeptPromise, victim: Victim, given: Given, nodes: AuditedNodes) -> str:
        promise = kept.promise
        text = f"attempt {victim.attempt} was evicted for {kept.claim.said.job}, which has room beside it"
        if victim.cluster != promise.cluster:
            return text
        now = kept.since
        others = {f"{one.message.job}/{one.message.attempt}" for one in kept.claim.victims}
        recalled = self._leaves(now)
        stays = f"{victim.job}/{victim.attempt}"

        def leaves(key: str) -> bool:
            # What is there of one that has left is somebody else's, with its labels: nobody is to remove that. Who is
            # there long after it was told to go may be stuck: nobody has to count on its room.
            gone = self.removed.get(key, sys.maxsize) < now.place
            stuck = self.recalled.get(key, now).at < now.at - KEPT_MS
            return key != stays and (key in others or (recalled(key) and not gone and not stuck))

        lately = {key: one for at, key, one in self._lately if at >= now.at - self._known_ms}
        there = {**lately, **given}
        own = self._held(promise.cluster, victim.job, now)
        for state in nodes.states(promise.cluster, now.at):
            for node in dict.fromkeys(slot.node for slot in promise.slots):
                total = _beside(there, state, leaves, node)
                for one in [*own, kept]:
                    _add(total, one.promise.planned({}).get(node, {}))
                if nodes.too_much((promise.cluster, node), state, total):
                    return ""
        return text


def _beside(given: Given, state: Mapping[str, Node], leaves: Leaves, node: str) -> Resources:
    """What is taken on a node without those that leave."""
    stays = {key: one for key, one in given.items() if not leaves(key)}
    return taken(stays, {name: _without(leaves, one) for name, one in state.items()}, node)


def _without(leaves: Leaves, node: Node) -> Node:
    left = {line: one for line, one in node.attempts.items() if not leaves(line.partition("@")[0])}
    return node if len(left) == len(node.attempts) else msgspec.structs.replace(node, attempts=left)


def _add(total: Resources, amounts: Resources) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount
