"""Schedules on the hub: runs are made under their own names, never twice, and are jobs like any other."""

from typing import Any

import pytest

from fairway.hub.schedules.work_due import PATIENCE_MS
from fairway.workloads.hub.objects import HubObject, hub_object
from fairway.workloads.schedules.schedule import stamp
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import T0
from tests.spec.builders.scripted_hub import unreachable
from tests.spec.hub.hub_objects import JOB, Json, policy, thing

CRON = "CronJob.batch/v1"
FLOW = "CronWorkflow.argoproj.io/v1alpha1"
SPARK = "ScheduledSparkApplication.sparkoperator.k8s.io/v1beta2"
MINUTE = 60_000
# The first whole minute behind the beginning.
FIRST = (T0 // MINUTE + 1) * MINUTE
POD: Json = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}


def cron(name: str = "tick", schedule: str = "* * * * *", **spec: Any) -> HubObject:
    template = {"metadata": {"labels": {"team": "x"}}, "spec": {"template": POD}}
    meta = {"creationTimestamp": stamp(T0)}
    return hub_object(
        CRON, thing(CRON, name, metadata=meta, spec={"schedule": schedule, "jobTemplate": template, **spec})
    )


def runs(one: HubDriver, kind: str = JOB) -> list[str]:
    return [name for found, _, name in one.hub.objects if found == kind]


def name_at(at: int) -> str:
    return f"tick-{at // MINUTE}"


@pytest.fixture
def hub() -> HubDriver:
    one = HubDriver()
    one.apply(policy("all"))
    one.run(1_000)
    return one


def until(one: HubDriver, at: int) -> None:
    one.run(at - one.now)


def test_each_run_is_a_job_of_the_schedule_named_as_the_controller_names_it(hub: HubDriver) -> None:
    hub.apply(cron())
    until(hub, FIRST + PATIENCE_MS - 1)
    assert runs(hub) == [], "a controller of the hub may make it"
    until(hub, FIRST + PATIENCE_MS)
    assert runs(hub) == [name_at(FIRST)]
    made = hub.hub.objects[JOB, "team-a", name_at(FIRST)]
    assert made["spec"]["managedBy"] == "fairway.io/fleet"
    assert made["metadata"]["labels"] == {"team": "x"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == "u-team-a-tick"
    until(hub, FIRST + MINUTE)
    assert runs(hub) == [name_at(FIRST), name_at(FIRST + MINUTE)], "there is none: the next one is on time"
    shown = hub.hub.objects[CRON, "team-a", "tick"]["status"]
    assert shown["lastScheduleTime"] == stamp(FIRST + MINUTE)
    assert [each["name"] for each in shown["active"]] == [name_at(FIRST)]
    hub.run(2_000)
    assert [said.hub.uid for said in hub.submissions(hub_object(JOB, made))] == [f"u-{name_at(FIRST)}"]


def test_what_the_hubs_own_controller_has_made_is_not_made_twice(hub: HubDriver) -> None:
    hub.apply(cron())
    until(hub, FIRST + 500)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u-team-a-tick", "controller": True}
    theirs = thing(JOB, name_at(FIRST), metadata={"ownerReferences": [owner]}, spec={"template": POD})
    hub.apply(hub_object(JOB, theirs))
    until(hub, FIRST + MINUTE + PATIENCE_MS - 1)
    assert runs(hub) == [name_at(FIRST)]
    assert hub.submissions(hub_object(JOB, theirs)), "it is taken as any other job"


def test_a_run_that_is_there_already_does_not_give_way_to_itself(hub: HubDriver) -> None:
    """Its controller, or a process of Fairway whose call was cut off, has made it, and not said so in the status."""
    hub.apply(cron(concurrencyPolicy="Replace"))
    until(hub, FIRST + 500)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u-team-a-tick", "controller": True}
    meta = {"ownerReferences": [owner], "uid": "theirs"}
    hub.apply(hub_object(JOB, thing(JOB, name_at(FIRST), metadata=meta, spec={"template": POD})))
    until(hub, FIRST + PATIENCE_MS + 1_000)
    assert hub.hub.objects[JOB, "team-a", name_at(FIRST)]["metadata"]["uid"] == "theirs"


def test_a_run_that_no_policy_selects_is_not_told_to_name_itself() -> None:
    one = HubDriver()
    one.apply(cron())
    until(one, FIRST + PATIENCE_MS + 5_000)
    held = one.held(hub_object(JOB, one.hub.objects[JOB, "team-a", name_at(FIRST)]))
    assert held is not None
    assert held.why.text == f"no policy selects Job team-a/{name_at(FIRST)}"
    assert "{apiVersion: batch/v1, kind: Job}, with a labelSelector" in held.why.remedy
    assert "each run of CronJob 'tick' has another" in held.why.remedy


def test_a_controller_that_is_switched_on_later_is_waited_for_again(hub: HubDriver) -> None:
    hub.apply(cron())
    until(hub, FIRST + MINUTE)
    assert runs(hub)[-1] == name_at(FIRST + MINUTE), "without one the run is on time"
    until(hub, FIRST + MINUTE + 30_000)
    shown = hub.hub.objects[CRON, "team-a", "tick"]["status"]
    theirs = cron().manifest | {"status": {**shown, "lastScheduleTime": stamp(FIRST + 2 * MINUTE)}}
    until(hub, FIRST + 2 * MINUTE - 500)
    hub.apply(hub_object(CRON, theirs))
    until(hub, FIRST + 3 * MINUTE + PATIENCE_MS - 1)
    assert runs(hub)[-1] == name_at(FIRST + MINUTE)
    until(hub, FIRST + 3 * MINUTE + PATIENCE_MS)
    assert runs(hub)[-1] == name_at(FIRST + 3 * MINUTE)


def test_after_a_pause_of_the_service_the_newest_is_made_and_none_twice(hub: HubDriver) -> None:
    hub.apply(cron())
    until(hub, FIRST + MINUTE)
    before = runs(hub)
    hub.now += 30 * MINUTE
    hub.restart()
    hub.run(PATIENCE_MS - 1)
    assert runs(hub) == before, "a controller of the hub may just have begun anew, too"
    hub.run(1_000)
    assert runs(hub) == [*before, name_at(FIRST + 31 * MINUTE)]
    hub.restart()
    hub.run(PATIENCE_MS)
    assert len(runs(hub)) == len(before) + 1


def test_a_run_that_is_forbidden_waits_for_the_end_of_the_one_before(hub: HubDriver) -> None:
    hub.apply(cron(concurrencyPolicy="Forbid"))
    until(hub, FIRST + 3 * MINUTE + 1)
    assert runs(hub) == [name_at(FIRST)]
    done = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
    hub.hub.show(JOB, "team-a", name_at(FIRST), done)
    hub.echo()
    hub.run(1_000)
    assert runs(hub) == [name_at(FIRST), name_at(FIRST + 3 * MINUTE)]


def test_an_object_of_another_namespace_or_kind_that_calls_itself_a_run_is_none(hub: HubDriver) -> None:
    hub.apply(cron(concurrencyPolicy="Forbid", failedJobsHistoryLimit=0))
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u-team-a-tick", "controller": True}
    failed = {"conditions": [{"type": "Failed", "status": "True"}]}
    for kind, namespace in ((JOB, "team-b"), ("JobSet.jobset.x-k8s.io/v1alpha2", "team-a")):
        forged = {"metadata": {"ownerReferences": [owner]}, "spec": {"template": POD}}
        hub.apply(hub_object(kind, thing(kind, "active", namespace, **forged)))
        hub.apply(hub_object(kind, thing(kind, "victim", namespace, status=failed, **forged)))
    hub.apply(hub_object(JOB, thing(JOB, "victim", spec={"template": POD})))
    until(hub, FIRST + PATIENCE_MS)
    assert {name_at(FIRST), "victim"} <= {
        name for kind, space, name in hub.hub.objects if (kind, space) == (JOB, "team-a")
    }


def test_a_run_that_replaces_another_takes_it_away(hub: HubDriver) -> None:
    hub.apply(cron(concurrencyPolicy="Replace"))
    until(hub, FIRST + 2 * MINUTE)
    assert runs(hub) == [name_at(FIRST + 2 * MINUTE)]


def test_runs_that_nobody_keeps_go_and_with_the_schedule_all(hub: HubDriver) -> None:
    hub.apply(cron(successfulJobsHistoryLimit=1))
    done = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
    for number in range(3):
        until(hub, FIRST + number * MINUTE + PATIENCE_MS)
        hub.hub.show(JOB, "team-a", name_at(FIRST + number * MINUTE), done)
        hub.echo()
        hub.run(1_000)
    assert runs(hub) == [name_at(FIRST + 2 * MINUTE)]
    hub.delete(cron())
    hub.run(1_000)
    assert runs(hub) == []
    hub.run(5 * MINUTE)
    assert runs(hub) == []


def test_one_that_cannot_be_read_says_so_and_others_go_on(hub: HubDriver) -> None:
    hub.apply(cron("bad", "every day"), cron())
    until(hub, FIRST + PATIENCE_MS)
    assert hub.events(cron("bad")) == ["InvalidSchedule"]
    assert runs(hub) == [name_at(FIRST)]
    hub.apply(cron("bad", "* * * * *"))
    hub.run(2 * MINUTE)
    assert any(name.startswith("bad-") for name in runs(hub))


def test_one_that_could_not_be_read_for_a_while_goes_on(hub: HubDriver) -> None:
    hub.apply(cron())
    until(hub, FIRST + PATIENCE_MS)
    hub.apply(cron(schedule="never"))
    until(hub, FIRST + 3 * MINUTE)
    assert runs(hub) == [name_at(FIRST)]
    hub.apply(cron())
    hub.run(1_000)
    assert runs(hub) == [name_at(FIRST), name_at(FIRST + 3 * MINUTE)]


def test_a_hub_that_is_away_makes_it_later(hub: HubDriver) -> None:
    hub.hub.refuses["run"] = unreachable
    hub.apply(cron())
    until(hub, FIRST + PATIENCE_MS + 5_000)
    assert runs(hub) == []
    del hub.hub.refuses["run"]
    hub.run(1_000)
    assert runs(hub) == [name_at(FIRST)]


@pytest.mark.parametrize(
    ("kind", "run", "spec", "name"),
    [
        (
            FLOW,
            "Workflow.argoproj.io/v1alpha1",
            {"schedules": ["* * * * *"], "workflowSpec": {"entrypoint": "x"}},
            FIRST // 1_000,
        ),
        (
            SPARK,
            "SparkApplication.sparkoperator.k8s.io/v1beta2",
            {"schedule": "@every 60s", "template": {"type": "Scala"}},
            0,
        ),
    ],
)
def test_other_kinds_of_schedules_make_their_own_kind_of_run(
    hub: HubDriver, kind: str, run: str, spec: Json, name: int
) -> None:
    made = thing(kind, "tick", metadata={"creationTimestamp": stamp(T0)}, spec=spec)
    hub.apply(hub_object(kind, made))
    until(hub, FIRST + MINUTE)
    meant = name or (T0 // 1_000 + 60) * 1_000_000_000
    assert runs(hub, run)[0] == f"tick-{meant}"
