"""What is read of each kind of schedule, and what of it is refused by its field."""

from typing import Any

import pytest

from fairway.wire.reasons import Refused
from fairway.workloads.schedules.registry import SCHEDULES
from fairway.workloads.schedules.schedule import FORBID, Schedule, millis, stamp

Json = dict[str, Any]
CRON = "CronJob.batch/v1"
FLOW = "CronWorkflow.argoproj.io/v1alpha1"
SPARK = "ScheduledSparkApplication.sparkoperator.k8s.io/v1beta2"
MADE = "2026-01-01T00:00:00Z"
RAN = "2026-01-02T00:00:00Z"
WORK: dict[str, Json] = {
    CRON: {"jobTemplate": {"spec": {"template": {}}}},
    FLOW: {"workflowSpec": {"entrypoint": "x"}},
    SPARK: {"template": {"type": "Scala"}},
}


def read(key: str, status: Json | None = None, **spec: Any) -> Schedule:
    kind, _, version = key.partition(".")
    meta = {"name": "tick", "namespace": "team-a", "uid": "u", "creationTimestamp": MADE}
    body = {"schedule": "0 * * * *", **WORK[key], **spec}
    return SCHEDULES[key].read(
        {"apiVersion": version, "kind": kind, "metadata": meta, "spec": body, "status": status or {}}
    )


@pytest.mark.parametrize(
    ("key", "last", "keep"),
    [(CRON, "lastScheduleTime", (3, 1)), (FLOW, "lastScheduledTime", (3, 1)), (SPARK, "lastRun", (1, 1))],
)
def test_it_begins_when_it_was_made_or_ran_last_and_keeps_what_its_controller_keeps(
    key: str, last: str, keep: tuple[int, int]
) -> None:
    assert (read(key).since, read(key, {last: RAN}).since, read(key).keep) == (millis(MADE), millis(RAN), keep)


def test_what_is_forbidden_or_missed_is_as_its_controller_has_it() -> None:
    both = {"concurrencyPolicy": FORBID, "startingDeadlineSeconds": 60}
    found = {key: read(key, **both) for key in SCHEDULES}
    assert {one.concurrency for one in found.values()} == {FORBID}
    assert {key: (one.waits, one.catches_up, one.deadline) for key, one in found.items()} == {
        CRON: (True, True, 60_000),
        FLOW: (False, True, 60_000),
        SPARK: (True, True, None),
    }
    assert not read(FLOW).catches_up
    assert {key: one.same_names for key, one in found.items()} == {CRON: True, FLOW: True, SPARK: False}


@pytest.mark.parametrize(("key", "field"), [(CRON, "timeZone"), (FLOW, "timezone"), (SPARK, "timeZone")])
def test_its_hours_are_those_of_the_time_zone_that_it_names(key: str, field: str) -> None:
    def due(**zone: str) -> list[str]:
        """When it runs first in winter, in summer, and last before that."""
        one = read(key, schedule="30 7 * * *", **zone)
        winter = millis("2026-01-10T00:00:00Z")
        summer = millis("2026-07-10T00:00:00Z")
        found = (one.next(winter), one.next(summer), one.newest(winter, summer))
        return [stamp(at) for at in found if at is not None]

    assert due() == ["2026-01-10T07:30:00Z", "2026-07-10T07:30:00Z", "2026-07-09T07:30:00Z"]
    assert due(**{field: "UTC"}) == due(**{field: "Local"}) == due()
    assert due(**{field: "Asia/Kolkata"}) == ["2026-01-10T02:00:00Z", "2026-07-10T02:00:00Z", "2026-07-09T02:00:00Z"]
    # Behind UTC by another number of hours in summer.
    assert due(**{field: "America/New_York"}) == [
        "2026-01-10T12:30:00Z",
        "2026-07-10T11:30:00Z",
        "2026-07-09T11:30:00Z",
    ]


def test_each_of_several_schedules_of_a_workflow_is_in_its_time_zone() -> None:
    two = read(FLOW, schedule=None, schedules=["0 6 * * *", "0 18 * * *"], timezone="Asia/Tokyo")
    found = [two.next(millis("2026-01-10T00:00:00Z")), two.next(millis("2026-01-10T09:00:00Z"))]
    assert [stamp(at) for at in found if at is not None] == ["2026-01-10T09:00:00Z", "2026-01-10T21:00:00Z"]


@pytest.mark.parametrize(
    ("key", "spec", "field"),
    [
        (CRON, {"schedule": "never"}, "spec.schedule"),
        (CRON, {"timeZone": "Mars/Base"}, "spec.timeZone"),
        (FLOW, {"timezone": "Mars/Base"}, "spec.timezone"),
        (SPARK, {"timeZone": "Mars/Base"}, "spec.timeZone"),
        (CRON, {"concurrencyPolicy": "Sometimes"}, "spec.concurrencyPolicy"),
        (CRON, {"jobTemplate": {}}, "spec.jobTemplate.spec"),
        (CRON, {"jobTemplate": {"spec": {"x": 1}, "metadata": {"labels": [1]}}}, "spec.jobTemplate.metadata.labels"),
        (FLOW, {"workflowSpec": None}, "spec.workflowSpec"),
        (FLOW, {"workflowMetadata": {"annotations": "x"}}, "spec.workflowMetadata.annotations"),
        (FLOW, {"schedules": ["@daily"]}, "spec.schedule"),
        (FLOW, {"when": "true"}, "spec.when"),
        (FLOW, {"stopStrategy": {"expression": "true"}}, "spec.stopStrategy"),
        (SPARK, {"template": []}, "spec.template"),
        (SPARK, {"suspend": "yes"}, "spec.suspend"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_field(key: str, spec: Json, field: str) -> None:
    with pytest.raises(Refused) as refused:
        read(key, **spec)
    assert field in {one.field for one in refused.value.reasons}
