"""Schedules of the hub by this simulation's own small idea of them: each runs every so many minutes, in UTC."""

import re
from datetime import datetime
from typing import Any

from fairway.lab.kubesim.api.metadata import rfc3339
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.members.pods import JOB, WORKFLOW

Json = dict[str, Any]
CRON_JOB = "CronJob.batch/v1"
CRON_WORKFLOW = "CronWorkflow.argoproj.io/v1alpha1"
RUN_OF = {CRON_JOB: JOB, CRON_WORKFLOW: WORKFLOW}
FORBID = "Forbid"
REPLACE = "Replace"
# What the number at the end of a run's name counts (ms).
_UNITS = {CRON_JOB: 60_000, CRON_WORKFLOW: 1_000}
_LAST = {CRON_JOB: "lastScheduleTime", CRON_WORKFLOW: "lastScheduledTime"}
_MINUTES = re.compile(r"\*/(\d+) \* \* \* \*")


def every(minutes: int) -> str:
    """A part of an hour."""
    return f"*/{minutes} * * * *"


def period(spec: Json) -> int:
    """Milliseconds."""
    found = _MINUTES.fullmatch(spec["schedule"])
    assert found is not None, "people here write no other schedules"
    return int(found[1]) * 60_000


def newest(spec: Json, until: int) -> int:
    """When it was to run last by then (ms)."""
    return until // period(spec) * period(spec)


def last(kind: str, found: StoredObject) -> int:
    """When the run was meant that its status names as the last one; without any, when the schedule was made (ms)."""
    stamp = (found.obj.get("status") or {}).get(_LAST[kind])
    return millis(stamp or found.obj["metadata"]["creationTimestamp"])


def made(kind: str, at: int, active: list[Json]) -> Json:
    """Its status when its run of that time was made."""
    return {_LAST[kind]: rfc3339(at), "active": active}


def owner_of(found: StoredObject) -> tuple[str, str]:
    """The kind and the uid of the schedule that controls a run; both are empty where none does."""
    for one in found.obj["metadata"].get("ownerReferences") or ():
        kind = f"{one.get('kind')}.{one.get('apiVersion')}"
        if one.get("controller") and kind in RUN_OF:
            return kind, str(one["uid"])
    return "", ""


def run_name(kind: str, name: str, at: int) -> str:
    return f"{name}-{at // _UNITS[kind]}"


def meant(kind: str, name: str) -> int:
    """When the run of that name was meant (ms)."""
    return int(name.rpartition("-")[2]) * _UNITS[kind]


def millis(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)
