"""Who does well to wait, though nothing goes wrong any more: what batch resources fell by lately is left alone."""

import msgspec

from fairway.domain import decision
from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.job import Job, State
from fairway.domain.resources import BATCH_CPU
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.wire.capacity import Node

_node = msgspec.json.Decoder(Node).decode
# A cluster of so many nodes has room for each of the jobs, as long as no more than so many percent are left alone.
_LARGE = 3
_MOST = 60


def waits_for_margin(fleet: SimulatedFleet, job: Job) -> bool:
    """It says that it waits, and no cluster that could take it leaves less alone (reserver/batch_margin.py): that may
    last for nineteen times as long as there were falls."""
    if job.state is not State.QUEUED or job.why is None or job.removing:
        return False
    if job.spec is None or not batch_pod_sets(job.spec.workload):
        return False
    rows = [fleet.store.rows.get(decision.nodes(name), {}).values() for name in fleet.members]
    large = [[_node(row.data) for row in nodes] for nodes in rows if len(nodes) == _LARGE]
    return all(_left_alone(node) > _MOST for nodes in large for node in nodes)


def _left_alone(node: Node) -> int:
    """In percent of its batch cpu."""
    return 100 * node.margin.get(BATCH_CPU, 0) // max(1, node.allocatable.get(BATCH_CPU, 0))
