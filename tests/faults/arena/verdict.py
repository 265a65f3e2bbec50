"""What became of it all: the whole record read once more, and compared with what ran in the members."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct, structs

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Grace
from fairway.audit.evictions.claims import EvictionFigures
from fairway.domain.job import ends
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.lab.fleet.decided_again import differing, hardly_known
from fairway.operate.replay.report import DecisionReport
from fairway.runtime.ports import Bus
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict
from tests.faults.arena.members import Members

# A cluster takes new work on reports that are half a minute old; a moment more until they are in the record.
_GRACE = Grace(reports=35_000, tree=35_000, cancel=60_000)
_MOVES = (wire.Dispatched, wire.Running, wire.Removed)
_message = msgspec.json.Decoder(wire.Message).decode
_report = msgspec.json.Decoder(fleet.Report).decode
_evict = msgspec.json.Decoder(Evict).decode


class Verdict(Struct, frozen=True):
    """No job of the load fails by itself, and none is to be refused: everything from `failed` on has to be nothing.
    `stall_s` is the longest time in which no job moved; `decided` is what would be decided otherwise, by stage and
    field; `identical` decisions would not, and `unknown` ones cannot be made again: a few of many, as what is
    `hardly_known` has to be nothing, too. `evictions` are told beside it."""

    accepted: int
    ended: int
    cancelled: int
    attempts: int
    stall_s: float
    failed: tuple[str, ...]
    refused: tuple[str, ...]
    lost: tuple[str, ...]
    twice: tuple[str, ...]
    overlapping: tuple[str, ...]
    quota: tuple[str, ...]
    others: tuple[str, ...]
    decided: tuple[str, ...] = ()
    hardly_known: tuple[str, ...] = ()
    identical: int = 0
    unknown: int = 0
    evictions: EvictionFigures = EvictionFigures()

    @property
    def wrong(self) -> tuple[str, ...]:
        ends = (*self.failed, *self.refused, *self.lost)
        runs = (*self.twice, *self.overlapping)
        return (*ends, *runs, *self.quota, *self.others, *self.decided, *self.hardly_known)

    def decided_again(self, report: DecisionReport) -> "Verdict":
        return structs.replace(
            self,
            decided=tuple(differing(report)),
            hardly_known=tuple(hardly_known(report)),
            identical=report.identical,
            unknown=len(report.unknown),
        )

    def __str__(self) -> str:
        return (
            f"accepted {self.accepted}, ended {self.ended}, cancelled {self.cancelled}, failed {len(self.failed)}, "
            f"refused {len(self.refused)}, lost {len(self.lost)}, "
            f"started twice {len(self.twice)}, overlapping attempts {len(self.overlapping)}, "
            f"quota excess {len(self.quota)}, other breaches {len(self.others)}, "
            f"decided otherwise {len(self.decided)}, hardly known {len(self.hardly_known)}, "
            f"decided again {self.identical}, unknown {self.unknown}, "
            f"attempts {self.attempts}, longest stall {self.stall_s:.1f} s"
        )


class Reading:
    """Takes the record from its beginning. `reports` are those of the agents, which NATS keeps for ten minutes."""

    def __init__(self, nodes: dict[str, dict[str, Resources]], tree: QuotaNode | None) -> None:
        self._checker = Checker(nodes, tree, _GRACE)
        self._answered: set[str] = set()
        self._moved: list[int] = []
        self._well: set[tuple[str, int]] = set()
        self._letters: list[str] = []
        self.reports: list[bytes] = []

    async def read(self, bus: Bus) -> None:
        async for one in bus.history(subjects.JOBS):
            message = _message(one.data)
            self._checker.hear(Spoken(one.sequence, one.id, one.subject, message))
            if isinstance(message, wire.Admitted | wire.Rejected):
                self._answered |= {message.cause, message.job}
            if isinstance(message, _MOVES) or ends(message):
                self._moved.append(message.at)
            if isinstance(message, wire.Succeeded):
                self._well.add((message.job, message.attempt))
        async for one in bus.history(subjects.RELIEF, (subjects.relief(Evict.verb),)):
            self._checker.decided(_evict(one.data))
        async for one in bus.history(subjects.CLUSTERS, ("fairway.cluster.report.>",)):
            self.reports.append(one.data)
            self._checker.see(_report(one.data))
        async for one in bus.history(subjects.DLQ):
            self._letters.append(f"a dead letter: {one.data.decode()[:300]}")

    def verdict(self, sent: Sequence[str], members: Members, held: Sequence[str]) -> Verdict:
        """`sent` are the ids of all that was submitted, be it of the message or of the job, `held` what the store
        and the members still hold when all has ended."""
        found = self._checker.findings()
        of = {rule: tuple(map(str, group)) for rule, group in _by_rule(found.violations).items()}
        lost = [f"{name} was never answered" for name in sent if name not in self._answered]
        lost += [f"{job} has no end" for job in found.unfinished]
        false = [f"attempt {at} of {job} did not succeed" for job, at in sorted(self._well - members.ended_well)]
        known = {"lost", "one attempt", "quota"}
        return Verdict(
            accepted=found.accepted,
            ended=sum(found.ends.values()),
            cancelled=found.ends.get("cancelled", 0),
            failed=("a job failed for good",) * found.ends.get("failed", 0),
            refused=("a job was refused",) * found.ends.get("rejected", 0),
            attempts=found.attempts,
            stall_s=self._stall(),
            lost=(*of.get("lost", ()), *lost),
            twice=tuple(members.twice),
            quota=of.get("quota", ()),
            overlapping=(*of.get("one attempt", ()), *members.overlapping),
            others=(
                *(text for rule, texts in of.items() if rule not in known for text in texts),
                *false,
                *self._letters,
                *held,
            ),
            evictions=found.evictions,
        )

    def _stall(self) -> float:
        moved = sorted(self._moved)
        return max((after - before for before, after in pairwise(moved)), default=0) / 1000


def _by_rule(violations: Sequence[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for one in violations:
        found.setdefault(one.rule, []).append(one)
    return found
