"""The status that was seen last is the one that the hub was told last: whatever is put off, refused, or lost."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.decision import JOBS, Heard, Step
from fairway.domain.events import row_of
from fairway.domain.fold import fold
from fairway.runtime.ports import ReadRows, Row
from fairway.watcher.decide import decide
from fairway.watcher.object_owner import Observed
from fairway.wire import jobs as wire
from tests.spec.builders.lives import T0, S, reserved
from tests.spec.builders.views import told
from tests.spec.watcher.test_early import seeing

Json = dict[str, Any]
NOW = T0 + 900 * S
KIND = "PyTorchJob.kubeflow.org/v1"
# How many of 4 workers are active: with all of them it runs.
STATUSES = st.lists(st.integers(0, 4), max_size=4)
STEPS = st.lists(st.one_of(STATUSES, st.sampled_from(["dispatched", "lost", "refused"])), max_size=12)


def status(active: int, condition: str = "Running") -> Json:
    return {
        "conditions": [{"type": condition, "status": "True"}],
        "replicaStatuses": {"Worker": {"active": active}},
    }


class Watcher:
    """One, and its store. `said` are the statuses that were told, in order; `seen` is the last one that was seen."""

    def __init__(self) -> None:
        self.view = seeing()
        self.job = reserved(hub=wire.HubRef("h-1", "pytorchjobs")).now
        self.said: list[Json] = []
        self.seen: Json = {}
        self.loses = False
        self._put_off: list[Heard[Any]] = []
        self._place = 0

    def sees(self, *statuses: Json) -> None:
        batch = [*self._put_off, *map(self._sight, statuses)]
        self._put_off = []
        self._round(batch)

    def dispatched(self) -> None:
        if self.job.state == "reserved":
            head = {"job": self.job.id, "tenant": self.job.tenant, "attempt": 1, "rev": self.job.rev + 1}
            self.job = fold(self.job, wire.Dispatched(**head, cluster="c1", uid="u-9"))
        self.sees()

    def _sight(self, seen: Json) -> Heard[Any]:
        self._place += 1
        self.seen = seen
        meta = {"name": "llm", "uid": "u-9", "resourceVersion": str(self._place)}
        body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "status": seen}
        head = {"job": self.job.id, "tenant": "team-a", "attempt": 1, "cluster": "c1", "sealed": (self.job.id, 1)}
        return told(Observed(**head, kind=KIND, manifest=body, place=self._place))

    def _round(self, batch: list[Heard[Any]]) -> None:
        row = Row(self.job.rev, msgspec.json.encode(row_of(self.job)))
        self.view.take(ReadRows(rows={(JOBS, self.job.id): row}), batch, NOW)
        made = []
        for one in batch:
            made.append(decide(self.view, one, NOW))
            for step in made[-1].steps:
                self.view.apply(step)
        again = []
        for one, decision in zip(batch, made, strict=True):
            if decision.again_in is not None:
                self._put_off.append(one)
            again += [one for step in decision.steps if not self._taken(step)]
        if again:
            self._round(again)

    def _taken(self, step: Step) -> bool:
        """False: another watcher was there first, and what it said went without the status."""
        refused = self.loses and bool(step.writes)
        for say in step.events:
            if isinstance(say.message, wire.JobMessage):
                self.job = fold(self.job, say.message)
            if not refused and say.message.status:
                self.said.append(say.message.status)
        if refused:
            self.loses = False
            self.view.refused(step)
        return not refused


@given(STEPS, st.booleans())
def test_the_last_status_seen_is_the_last_one_said(steps: list[list[int] | str], succeeds: bool) -> None:
    watcher = Watcher()
    for step in steps:
        if step == "dispatched":
            watcher.dispatched()
        elif step == "lost":
            watcher.view.begin()
        elif step == "refused":
            watcher.loses = True
        else:
            watcher.sees(*map(status, step))
    if succeeds:
        watcher.sees(status(4, "Succeeded"), status(1, "Succeeded"))
        watcher.sees(status(0, "Succeeded"))
    watcher.dispatched()
    assert (watcher.said or [{}])[-1] == watcher.seen


@given(st.lists(STATUSES, max_size=8))
def test_none_is_said_twice_in_a_row(batches: list[list[int]]) -> None:
    watcher = Watcher()
    watcher.dispatched()
    for one in batches:
        watcher.sees(*map(status, one))
    assert all(one != after for one, after in zip(watcher.said, watcher.said[1:], strict=False))
