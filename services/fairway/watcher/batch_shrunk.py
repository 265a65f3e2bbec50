"""Jobs on batch resources that became less under them, as Koordinator's koordlets evict pods then. Pure.

Fairway does not race them: a node that is short for a moment costs nobody a job.
"""

from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.job import Job
from fairway.workloads.kinds.phase import PENDING, RUNNING, Phase
from fairway.workloads.kinds.registry import KINDS

# For so long (ms) a running job may lack pods.
_SHORT_MS = 60_000


def on_batch(job: Job) -> bool:
    return job.spec is not None and bool(batch_pod_sets(job.spec.workload))


def patience(job: Job) -> int:
    """How long (ms) a running job's gang may be down before it is given up."""
    assert job.spec is not None, "a running job was admitted"
    return _SHORT_MS if on_batch(job) else job.spec.start_timeout


def is_up(job: Job, phase: Phase) -> bool:
    """Whether a job that was dispatched has started: with its whole gang. On batch resources, which may become less
    before the last pod has a node, with as much of it as a running one goes on with."""
    if phase.state == RUNNING:
        return True
    assert job.spec is not None, "a dispatched job was admitted"
    in_part = phase.state == PENDING and phase.are_to_be > 0 and not KINDS[job.spec.workload.key].steady
    return in_part and on_batch(job) and not is_down(job, phase)


def is_down(job: Job, phase: Phase) -> bool:
    """Whether a running job lacks what it cannot go on without for long: any pod of its gang; of a kind whose pods come
    and go more than a quarter, and only where they may be taken away."""
    assert job.spec is not None, "a running job was admitted"
    if phase.state != PENDING:
        return False
    if KINDS[job.spec.workload.key].steady:
        return True
    return on_batch(job) and 4 * phase.missing > phase.are_to_be
