"""What must be so where jobs evict others, beside what the record shows (`fairway.audit.evictions`): who is within a
guaranteed share gets it in time, and nobody is evicted in vain."""

import asyncio
from collections import Counter

from fairway.audit.evictions.claims import AuditedClaim
from fairway.lab.simulation.evictions.owed import Owed, owed
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.outcome import RunPlan
from fairway.wire.reasons import Code

# How often it is looked who waits for his share (s).
_LOOK_S = 2.0
# How long (ms) it may take from the end of its patience until a claim begins; and in all, with everything that has to
# leave: its grace, what is kept for longer, and a claim that came to nothing before.
_CLAIM_MS = 5_000
_IN_ALL_MS = 300_000
# Of a claim for which somebody was evicted in vain, without faults: these ends are somebody's doing, or there was room
# elsewhere before the evicted had left.
_SOMEBODYS = ("cancelled", Code.CLAIM_WITHDRAWN, Code.CLAIM_OVERTAKEN, Code.CLAIM_NOT_NEEDED)


class EvictionChecks:
    def __init__(self, fleet: SimulatedFleet, witness: EventChecks, plan: RunPlan) -> None:
        self._fleet = fleet
        self._witness = witness
        self._calm = plan.profile == "calm"
        self._since: dict[tuple[str, int], tuple[int, int]] = {}

    def figures(self) -> Counter[str]:
        """Of the claims that began: how they ended, whom they evicted and in vain."""
        found = self._witness.evictions()
        return (
            Counter({f"claim_{end}": count for end, count in found.claims.items()})
            + Counter({f"evicted_{cause}": count for cause, count in found.evicted.items()})
            + Counter({f"wasted_{end}": count for end, count in found.wasted.items()})
        )

    async def watch(self) -> None:
        """While there are no faults: never returns."""
        while self._calm:
            await asyncio.sleep(_LOOK_S)
            self._look()
        await asyncio.get_running_loop().create_future()

    def _look(self) -> None:
        tree = self._witness.tree
        now = self._fleet.clock.now()
        waiting = {}
        for one in owed(self._fleet, tree, rows(self._fleet)):
            job = one.job
            key = (job.id, job.attempt)
            began, unclaimed = self._since.get(key, (now, now))
            # A claim that came to nothing is followed by another one after a while.
            again = job.claim.again if job.claim is not None and not job.claim.open else 0
            unclaimed = now if job.open_claim is not None or again > now else unclaimed
            waiting[key] = (began, unclaimed)
            self._late(one, now - began, now - unclaimed)
        self._since = waiting

    def _late(self, one: Owed, waited: int, unclaimed: int) -> None:
        text = f"attempt {one.job.attempt} is within the min of {one.guarantor}, would have room in {one.cluster}, and "
        if unclaimed > one.patience + _CLAIM_MS:
            self._witness.breach("owed", one.job.id, f"{text}claims nothing")
        elif waited > one.patience + _IN_ALL_MS:
            self._witness.breach("owed", one.job.id, f"{text}waits for {_IN_ALL_MS // 1000} s and more")

    def end(self) -> None:
        for claim in self._witness.wasted() if self._calm else ():
            if claim.end not in _SOMEBODYS and not self._lost_its_quota(claim):
                said = f"{len(claim.victims)} attempts were evicted for its claim {claim.said.claim}, which ended so"
                self._witness.breach("wasted", claim.said.job, f"{said}: {claim.end}")

    def _lost_its_quota(self, claim: AuditedClaim) -> bool:
        """It may have waited for quota until its time was over, as an administrator changed the tree meanwhile."""
        assert claim.over is not None, "it is over, in vain"
        changes = self._witness.tree_changes()
        return claim.end == Code.CLAIM_EXPIRED and any(claim.begun.at <= at <= claim.over.at for at in changes)
