"""The state table, printed: what each message makes of a job in each state. `.` may not follow, `=` stays."""

import pytest

from fairway.domain.fold import fold
from fairway.domain.job import MOVES, IllegalMove, State
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, Life, admitted, dequeued, dispatched, placed, queued, reserved, running

WHY = Reason(Code.JOB_FAILED, "exit code 1")
LIVES: dict[State, Life] = {
    State.ADMITTED: admitted(),
    State.QUEUED: queued(),
    State.DEQUEUED: dequeued(),
    State.PLACED: placed(),
    State.RESERVED: reserved(),
    State.DISPATCHED: dispatched(),
    State.RUNNING: running(),
    State.RETURNING: running().then(wire.Failed, cluster="c1", why=WHY),
    State.SUCCEEDED: running().then(wire.Succeeded, cluster="c1"),
    State.FAILED: running().then(wire.Failed, cluster="c1", why=WHY, final=True),
    State.CANCELLED: queued().then(wire.Cancelled),
    State.REJECTED: admitted().then(wire.Rejected, reasons=(WHY,)),
}
FIELDS = {
    wire.Admitted: {"spec": admitted().now.spec},
    wire.Rejected: {"reasons": (WHY,)},
    wire.Queue: {"queue": "gold"},
    wire.Blocked: {"why": WHY},
    wire.Amended: {"spec": admitted().now.spec},
    wire.Held: {"held": True},
    wire.Placed: {"cluster": "c1", "slots": SLOTS},
    wire.Reserved: {"cluster": "c1", "slots": SLOTS, "expires_at": 1},
    **{kind: {"cluster": "c1"} for kind in (wire.Dispatched, wire.Running, wire.Succeeded, wire.Removed)},
    **{kind: {"cluster": "c1", "why": WHY} for kind in (wire.Failed, wire.Lost, wire.Recall)},
    wire.Evicted: {"cluster": "c1", "why": WHY, "claim": "claim-1", "right": Cause.RECLAIM},
    wire.Claimed: {"claim": 1, "causes": (Cause.RECLAIM,), "until": 1},
    wire.Nominated: {"claim": 1, "cluster": "c1", "slots": SLOTS, "victims": 1, "until": 1},
    wire.Unclaimed: {"claim": 1, "why": WHY},
}
KINDS = (wire.Admitted, *MOVES)

TABLE = """
             admitted queue    blocked  amended  held     dequeued placed   reserved dispatch running  succeede failed   lost     evicted  claimed  nominate unclaime rejected recall   removed  cancelle
admitted     .        queued   .        .        =        .        .        .        .        .        .        .        .        .        .        .        .        rejected .        =        .
queued       .        .        =        =        =        dequeued .        .        .        .        .        .        .        .        =        =        =        .        =        =        cancelle
dequeued     .        queued   .        .        =        .        placed   .        .        .        .        .        .        .        .        .        =        .        =        =        .
placed       .        queued   .        .        =        .        .        reserved .        .        .        .        .        .        .        .        =        .        =        =        .
reserved     .        queued   .        .        =        .        .        .        dispatch .        .        returnin returnin returnin .        .        .        .        =        =        cancelle
dispatched   .        .        .        =        =        .        .        .        =        running  succeede returnin returnin returnin .        .        .        .        =        =        cancelle
running      .        .        .        =        =        .        .        .        =        .        succeede returnin returnin returnin .        .        .        .        =        =        cancelle
returning    .        queued   .        .        =        .        .        .        .        .        .        .        .        .        .        .        .        .        =        =        .
succeeded    .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        =        =        .
failed       .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        =        =        .
cancelled    .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        =        =        .
rejected     .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        .        =        =        .
""".strip("\n")  # noqa: E501 - a table is not cut


def cell(state: State, kind: type[wire.JobMessage]) -> str:
    job = LIVES[state].now
    head = {"job": job.id, "tenant": job.tenant, "attempt": job.attempt, "rev": job.rev + 1, "at": job.at}
    try:
        after = fold(job, kind(**{**head, **FIELDS.get(kind, {})}))
    except IllegalMove as error:
        assert job.id in str(error) and state in str(error) and kind.verb in str(error)
        return "."
    assert after.rev == job.rev + 1
    return "=" if after.state is state else after.state[:8]


def test_every_state_meets_every_message_as_the_table_says() -> None:
    head = " " * 13 + " ".join(f"{kind.verb[:8]:8}" for kind in KINDS).rstrip()
    rows = [f"{state:12} " + " ".join(f"{cell(state, kind):8}" for kind in KINDS).rstrip() for state in State]
    assert "\n".join([head, *rows]) == TABLE


def test_every_life_of_the_table_is_in_its_state() -> None:
    assert {state: life.now.state for state, life in LIVES.items()} == {state: state for state in State}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (wire.Admitted, wire.Rejected)])
def test_nothing_but_admission_makes_a_job(kind: type[wire.JobMessage]) -> None:
    with pytest.raises(IllegalMove, match="is unknown"):
        fold(None, kind(job="x", tenant="t", **FIELDS.get(kind, {})))


def test_an_end_state_never_changes() -> None:
    for state in (State.SUCCEEDED, State.FAILED, State.CANCELLED, State.REJECTED):
        assert {cell(state, kind) for kind in KINDS} == {".", "="}
