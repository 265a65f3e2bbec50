"""The kinds of schedules by their key, `Kind.group/version`."""

from collections.abc import Mapping
from typing import Any

from fairway.workloads.hub_status import entries
from fairway.workloads.schedules.cron_job import CronJob
from fairway.workloads.schedules.cron_workflow import CronWorkflow
from fairway.workloads.schedules.schedule import ScheduleKind
from fairway.workloads.schedules.scheduled_spark_application import ScheduledSparkApplication

SCHEDULES: Mapping[str, ScheduleKind] = {
    one.key: one for one in (CronJob(), CronWorkflow(), ScheduledSparkApplication())
}
# The kinds of their runs.
RUNS = frozenset(one.run for one in SCHEDULES.values())


def controlled_by(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry of `ownerReferences` of the schedule that controls an object; empty without any."""
    meta = manifest.get("metadata")
    owners = meta.get("ownerReferences") if isinstance(meta, dict) else None
    for owner in entries(owners):
        if owner.get("controller") and f"{owner.get('kind')}.{owner.get('apiVersion')}" in SCHEDULES:
            return owner
    return {}
