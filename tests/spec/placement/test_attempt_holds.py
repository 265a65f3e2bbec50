"""What attempts hold in arrays: the same after many changes of their nodes as when it was read for the first time."""

import numpy as np

from fairway.placement.engine.attempt_holds import AttemptHolds
from fairway.placement.fleet import Fleet
from tests.spec.placement.builders import GPU, cluster
from tests.spec.placement.relief_builders import full

NODES = 300


def test_rows_that_are_nobodys_are_left_out_and_the_others_stay_whose_they_were() -> None:
    """Each change has both read again, 300 rows each: after a few of them more rows were written than are kept."""
    fleet = Fleet({"c": cluster([full(f"n{at:03}", a=4, b=1) for at in range(NODES)])})
    closed = []
    for at in range(8):
        fleet["c"].put(full("n000", a=4, b=1 + at % 3))
        engine = fleet.engine()
        held = engine.attempts.of(["a/1", "away/1", "b/1"], np.array([engine.clusters.slots["c"]] * 3))
        gpus = np.bincount(held.who, held.amounts[engine.rows.columns.by_name[GPU]], 3).tolist()
        assert gpus == [4 * NODES, 0, NODES + at % 3]
        assert len(set(held.at.tolist())) == NODES
        closed.append(_written(engine.attempts))
    assert max(closed) < 10 * NODES, "16 times as many were written"


def _written(attempts: AttemptHolds) -> int:
    return attempts._table.used
