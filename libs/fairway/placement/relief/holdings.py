"""What candidates are, in columns, and what they hold."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.attempt_holds import HeldAmounts
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.engine import Engine
from fairway.wire.preemption.evictions import Candidate


class CandidateColumns(NamedTuple):
    """By candidate; `slot` is that of its cluster, -1 where the fleet has none of that name."""

    level: Numbers
    priority: Numbers
    lost: Numbers
    lender: Numbers
    slot: Numbers


def columns(engine: Engine, candidates: Sequence[Candidate]) -> CandidateColumns:
    slots = engine.clusters.slots
    return CandidateColumns(
        np.array([one.level for one in candidates], np.int64),
        np.array([one.priority for one in candidates], np.int64),
        np.array([one.lost for one in candidates], np.int64),
        np.array([one.lender for one in candidates], np.int64),
        np.array([slots.get(one.cluster, -1) for one in candidates], np.int64),
    )


def holdings(engine: Engine, candidates: Sequence[Candidate], slots: Numbers) -> HeldAmounts:
    """What they hold now in the clusters of these slots."""
    return engine.attempts.of([f"{one.job}/{one.attempt}" for one in candidates], slots)
