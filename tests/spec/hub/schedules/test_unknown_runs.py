"""Runs that the hub has, and that no watch has shown yet: none is made beside them that is forbidden."""

from typing import Any

from fairway.hub import messages as local
from fairway.hub.schedules.work_due import PATIENCE_MS
from fairway.workloads.hub.objects import hub_object
from fairway.workloads.schedules.schedule import stamp
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import not_taken
from tests.spec.hub.hub_objects import JOB, policy, thing
from tests.spec.hub.schedules.test_schedules import CRON, FIRST, MINUTE, POD, cron, name_at, runs, until

OWNER = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u-team-a-tick", "controller": True}
REFERENCE = {"apiVersion": "batch/v1", "kind": "Job", "namespace": "team-a", "name": "theirs", "uid": "u-theirs"}


def begun() -> HubDriver:
    one = HubDriver()
    one.apply(policy("all"))
    one.run(1_000)
    return one


def made_unseen(one: HubDriver, **meta: Any) -> None:
    """The hub's controller makes a run and says so in the status, and a watch shows neither."""
    meta = {"uid": "u-theirs", "ownerReferences": [OWNER], **meta}
    one.hub.put(JOB, thing(JOB, "theirs", metadata=meta, spec={"template": POD}))
    one.hub.objects[CRON, "team-a", "tick"]["status"] = {"active": [REFERENCE]}


def test_after_a_start_no_run_is_made_until_all_runs_of_its_kind_are_known() -> None:
    one = begun()
    one.apply(cron(concurrencyPolicy="Forbid", successfulJobsHistoryLimit=0))
    until(one, FIRST + PATIENCE_MS)
    one.now += 5 * MINUTE
    one.start()
    one.see([(CRON, "team-a", "tick")])
    one.inbox.local(local.RunsListed("Workflow.argoproj.io/v1alpha1"))
    one.run(PATIENCE_MS + MINUTE)
    assert runs(one) == [name_at(FIRST)], "it may be under way"
    one.see([(JOB, "team-a", name_at(FIRST))])
    one.inbox.local(local.RunsListed(JOB))
    one.run(PATIENCE_MS + MINUTE)
    assert runs(one) == [name_at(FIRST)], "it is"
    one.hub.show(JOB, "team-a", name_at(FIRST), {"conditions": [{"type": "Complete", "status": "True"}]})
    one.echo()
    one.run(1)
    assert runs(one) == [name_at(FIRST + 7 * MINUTE)]


def test_one_that_was_deleted_before_its_runs_were_known_takes_them_along() -> None:
    one = begun()
    one.apply(cron())
    until(one, FIRST + PATIENCE_MS)
    one.start()
    one.see([(CRON, "team-a", "tick")])
    one.delete(cron())
    one.run(MINUTE)
    assert runs(one) == [name_at(FIRST)]
    one.see([(JOB, "team-a", name_at(FIRST))])
    one.inbox.local(local.RunsListed(JOB))
    one.run(1_000)
    assert runs(one) == []


def test_a_run_that_the_status_names_and_no_watch_has_shown_forbids_another() -> None:
    one = begun()
    one.apply(cron(concurrencyPolicy="Forbid"))
    one.run(1_000)
    made_unseen(one)
    until(one, FIRST + 2 * MINUTE + PATIENCE_MS)
    assert runs(one) == ["theirs"]
    one.hub.objects.pop((JOB, "team-a", "theirs"))
    one.run(PATIENCE_MS)
    assert runs(one) == [name_at(FIRST + 2 * MINUTE)], "it is gone, which no watch tells of what none has shown"


def test_a_run_that_the_status_names_and_that_is_another_schedules_forbids_nothing() -> None:
    one = begun()
    one.apply(cron(concurrencyPolicy="Forbid"))
    one.run(1_000)
    made_unseen(one, ownerReferences=[{**OWNER, "uid": "another"}])
    until(one, FIRST + PATIENCE_MS)
    assert runs(one) == ["theirs", name_at(FIRST)]


class StalledWatch(HubDriver):
    """Shows nothing while it is `still`."""

    still = False

    def echo(self) -> None:
        if not self.still:
            super().echo()


def test_the_run_that_was_made_last_forbids_another_before_it_is_shown() -> None:
    one = StalledWatch()
    one.apply(policy("all"))
    one.apply(cron(concurrencyPolicy="Forbid"))
    until(one, FIRST + PATIENCE_MS - 1)
    one.still = True
    until(one, FIRST + 2 * MINUTE)
    assert runs(one) == [name_at(FIRST)]
    one.still = False
    one.echo()
    until(one, FIRST + 3 * MINUTE)
    assert runs(one) == [name_at(FIRST)]


def test_one_that_is_gone_or_suspended_by_now_makes_no_run() -> None:
    one = begun()
    one.apply(cron(), cron("other"))
    one.run(1_000)
    one.hub.objects.pop((CRON, "team-a", "tick"))
    one.hub.objects[CRON, "team-a", "other"]["spec"]["suspend"] = True
    until(one, FIRST + MINUTE)
    assert runs(one) == []


def test_what_may_not_be_looked_at_is_taken_as_it_was_shown() -> None:
    one = begun()
    one.hub.refuses["look"] = not_taken()
    one.apply(cron(concurrencyPolicy="Replace"))
    until(one, FIRST + 2 * MINUTE)
    assert runs(one) == [name_at(FIRST + 2 * MINUTE)]


def test_a_status_that_its_owner_filled_with_nonsense_costs_little() -> None:
    one = begun()
    active: list[Any] = [1, {"name": 2}, *({"name": f"n{number}"} for number in range(10_000))]
    meta = {"creationTimestamp": stamp(one.now)}
    nonsense = {"active": active, "lastScheduleTime": 3}
    body = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": POD}}}
    one.apply(hub_object(CRON, thing(CRON, "tick", metadata=meta, spec=body, status=nonsense)))
    until(one, FIRST + PATIENCE_MS)
    assert len([call for call in one.hub.asked if call.verb == "look"]) < 30
