"""What candidates are, in columns."""

from itertools import repeat
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.engine import Engine
from fairway.wire.preemption.evictions import Candidates


class CandidateColumns(NamedTuple):
    """By candidate; `slot` is that of its cluster, -1 where the fleet has none of that name."""

    level: Numbers
    priority: Numbers
    lost: Numbers
    lender: Numbers
    slot: Numbers


def columns(engine: Engine, asked: Candidates) -> CandidateColumns:
    clusters = np.array([*map(engine.clusters.slots.get, asked.clusters, repeat(-1))], np.int64)
    return CandidateColumns(
        np.array(asked.level, np.int64),
        np.array(asked.priority, np.int64),
        np.array(asked.lost, np.int64),
        np.array(asked.lender, np.int64),
        clusters[np.array(asked.cluster, np.int64)],
    )
