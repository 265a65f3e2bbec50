"""An object of the hub is submitted at once when nothing that may still be on its way decides what becomes of it."""

import pytest

from fairway.hub.intake.submission_delay import SETTLE_MS, SubmissionDelay
from fairway.hub.intake.waiting_objects import WaitingObjects
from fairway.workloads.hub.objects import cleaned
from fairway.workloads.settings.policies import read_policy
from tests.spec.hub.hub_objects import JOB, HubObject, hub_object, job, policy, thing

NOW = 1_000_000
LONG_AGO = 0


def of_class(name: str) -> HubObject:
    pod = {
        "spec": {"priorityClassName": name, "restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    }
    return hub_object(JOB, thing(JOB, "train", spec={"template": pod}))


@pytest.mark.parametrize(
    ("given", "policies", "in_force", "changed", "when"),
    [
        pytest.param(job(), [{"name": "train"}], (), LONG_AGO, 0, id="a policy names it: at once"),
        pytest.param(job(), [{}], (), LONG_AGO, SETTLE_MS, id="a policy for all jobs: one for it may follow"),
        pytest.param(job(), [], (), LONG_AGO, SETTLE_MS, id="no policy yet: one may follow"),
        pytest.param(job(), [{"name": "other"}], (), LONG_AGO, SETTLE_MS, id="a policy names another job"),
        pytest.param(job(), [{"name": "train"}], (), NOW - 100, SETTLE_MS - 100, id="a queue has just changed"),
        pytest.param(of_class("high"), [{"name": "train"}], (), LONG_AGO, SETTLE_MS, id="its class is not here yet"),
        pytest.param(
            of_class("high"), [{"name": "train"}], ("PriorityClass/high",), LONG_AGO, 0, id="its class is here"
        ),
        pytest.param(
            job(annotations={"kube-queue/queue-name": "night"}),
            [{"name": "train"}],
            (),
            LONG_AGO,
            SETTLE_MS,
            id="its queue is not here yet",
        ),
        pytest.param(
            job(annotations={"kube-queue/queue-name": "night"}),
            [{"name": "train"}],
            ("Queue/night",),
            LONG_AGO,
            0,
            id="its queue is here",
        ),
    ],
)
def test_an_object_is_ripe(given, policies, in_force, changed, when):  # type: ignore[no-untyped-def]  # a table
    room = WaitingObjects()
    for at, selector in enumerate(policies):
        room.put(read_policy(policy(f"p{at}", selector).manifest), cleaned(given.manifest))
    delay = SubmissionDelay(room.named, lambda kind, name: f"{kind}/{name}" in in_force)
    assert max(delay.ripe_at(given, changed, NOW) - NOW, 0) == when


def test_nothing_waits_longer_than_once() -> None:
    delay = SubmissionDelay(lambda one: False, lambda kind, name: False)
    first = delay.ripe_at(job(), LONG_AGO, NOW)
    assert delay.ripe_at(job(), NOW + 200, NOW + 200) == first == NOW + SETTLE_MS
