"""The status of a schedule names the runs that are under way, as the kind's own controller writes it."""

import pytest

from fairway.domain.decision import Outcome
from fairway.hub.schedules.work_due import PATIENCE_MS
from fairway.workloads.hub.objects import HubObject, hub_object
from fairway.workloads.schedules.schedule import stamp, unlike
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import T0
from tests.spec.hub.hub_objects import JOB, Json, policy, thing
from tests.spec.hub.schedules.test_schedules import CRON, FIRST, FLOW, MINUTE, SPARK, cron, name_at, runs, until

DONE: Json = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
STEPS: Json = {"entrypoint": "x", "templates": [{"name": "x", "container": {"image": "x", "command": ["x"]}}]}
WORK: dict[str, Json] = {
    FLOW: {"schedules": ["0 * * * *"], "workflowSpec": STEPS},
    SPARK: {"schedule": "0 * * * *", "template": {"type": "Scala"}},
}
HOUR = (T0 // 3_600_000 + 1) * 3_600_000


@pytest.fixture
def hub() -> HubDriver:
    one = HubDriver()
    one.apply(policy("all"))
    one.run(1_000)
    return one


def schedule(kind: str) -> HubObject:
    return hub_object(kind, thing(kind, "tick", metadata={"creationTimestamp": stamp(T0)}, spec=WORK[kind]))


def status(one: HubDriver, kind: str = CRON) -> Json:
    found: Json = one.hub.objects[kind, "team-a", "tick"].get("status") or {}
    return found


def active(one: HubDriver, kind: str = CRON) -> list[str]:
    return [each["name"] for each in status(one, kind).get("active") or ()]


def test_a_run_is_named_as_soon_as_it_is_made_and_no_longer_when_it_has_ended(hub: HubDriver) -> None:
    hub.apply(cron(schedule="0 * * * *"))
    until(hub, HOUR + PATIENCE_MS + 1)
    (name,) = runs(hub)
    reference = {"apiVersion": "batch/v1", "kind": "Job", "namespace": "team-a", "name": name, "uid": f"u-{name}"}
    assert status(hub) == {"lastScheduleTime": stamp(HOUR), "active": [reference]}
    hub.hub.show(JOB, "team-a", name, DONE)
    hub.echo()
    hub.run(2)
    assert active(hub) == []
    assert status(hub)["lastScheduleTime"] == stamp(HOUR)


def test_of_a_run_that_is_replaced_it_names_the_one_in_its_place(hub: HubDriver) -> None:
    hub.apply(cron(concurrencyPolicy="Replace"))
    until(hub, FIRST + 2 * MINUTE + 1)
    assert active(hub) == [name_at(FIRST + 2 * MINUTE)] == runs(hub)


def test_a_run_that_somebody_deletes_is_not_named(hub: HubDriver) -> None:
    hub.apply(cron(schedule="0 * * * *"))
    until(hub, HOUR + PATIENCE_MS + 1)
    (name,) = runs(hub)
    hub.delete(hub_object(JOB, hub.hub.objects[JOB, "team-a", name]))
    hub.run(2)
    assert active(hub) == []


def test_what_has_ended_while_nobody_looked_is_left_to_a_controller_for_a_while(hub: HubDriver) -> None:
    hub.apply(cron(schedule="0 * * * *"))
    until(hub, HOUR + PATIENCE_MS + 1)
    (name,) = runs(hub)
    hub.hub.show(JOB, "team-a", name, DONE)
    hub.now += MINUTE
    hub.restart()
    hub.run(PATIENCE_MS - 1)
    assert active(hub) == [name]
    hub.run(2)
    assert active(hub) == []


def test_a_status_that_the_hub_does_not_take_is_written_once(hub: HubDriver) -> None:
    hub.apply(cron(schedule="0 * * * *"))
    until(hub, HOUR + PATIENCE_MS + 1)
    (name,) = runs(hub)
    hub.hub.refuses["run"] = lambda call: Outcome(call, True)
    hub.hub.show(JOB, "team-a", name, DONE)
    hub.echo()
    before = len(hub.hub.asked)
    hub.run(30 * MINUTE)
    assert [one.verb for one in hub.hub.asked[before:]].count("run") == 1


def test_a_cron_workflow_says_it_as_argo_does(hub: HubDriver) -> None:
    hub.apply(schedule(FLOW))
    until(hub, HOUR + 59_000)
    name = f"tick-{HOUR // 1000}"
    assert active(hub, FLOW) == [name]
    assert status(hub, FLOW)["lastScheduledTime"] == stamp(HOUR)
    hub.hub.show("Workflow.argoproj.io/v1alpha1", "team-a", name, {"phase": "Succeeded"})
    hub.echo()
    hub.run(2)
    assert status(hub, FLOW)["active"] == []


def test_a_scheduled_spark_application_says_it_as_its_operator_does(hub: HubDriver) -> None:
    hub.apply(schedule(SPARK))
    until(hub, HOUR + PATIENCE_MS + 1)
    name = f"tick-{HOUR * 1_000_000}"
    shown = status(hub, SPARK)
    assert (shown["scheduleState"], shown["lastRun"], shown["lastRunName"]) == ("Scheduled", stamp(HOUR), name)
    assert shown["nextRun"] == stamp(HOUR + 3_600_000)
    assert shown["pastSuccessfulRunNames"] == []


@pytest.mark.parametrize(
    ("shown", "wanted", "same"),
    [
        (None, {"active": None}, True),
        ({"active": []}, {"active": None}, True),
        ({"active": [{"uid": "a", "resourceVersion": "1"}]}, {"active": [{"uid": "a"}]}, True),
        ({"active": [{"uid": "b"}]}, {"active": [{"uid": "a"}]}, False),
        ({"active": [{"uid": "a"}]}, {"active": None}, False),
        ("nonsense", {"active": [{"uid": "a"}]}, False),
        ({"active": [None, 3]}, {"active": []}, False),
    ],
)
def test_whether_a_status_says_something_else(shown: object, wanted: Json, same: bool) -> None:
    assert unlike(shown, wanted) is not same
