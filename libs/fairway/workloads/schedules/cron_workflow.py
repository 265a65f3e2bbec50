"""CronWorkflow of Argo (workflow/cron/operator.go): a run that was missed is made within startingDeadlineSeconds alone,
one that is forbidden is left out, and the run's name ends with the seconds of when it was meant.
"""

from collections.abc import Sequence

from msgspec import structs

from fairway.workloads.reading.fields import Field, read_root
from fairway.workloads.reading.names import read_name
from fairway.workloads.schedules.schedule import (
    MOST_NAME,
    Json,
    Run,
    Schedule,
    ScheduleKind,
    read_common,
    since_of,
    stamp,
)
from fairway.workloads.schedules.timetable import read_timetable, read_zone

_LABEL = "workflows.argoproj.io/cron-workflow"
_SCHEDULED = "workflows.argoproj.io/scheduled-time"
_MOST_SCHEDULES = 50


class CronWorkflow(ScheduleKind):
    key = "CronWorkflow.argoproj.io/v1alpha1"
    run = "Workflow.argoproj.io/v1alpha1"
    part = ""  # its definition has no status subresource

    def read(self, manifest: Json) -> Schedule:
        root = read_root(manifest, "argoproj.io/v1alpha1", "CronWorkflow")
        spec = root["spec"]
        read_name(root["metadata"]["name"], MOST_NAME)
        for name in ("when", "stopStrategy"):
            if spec[name].given:
                spec[name].wrong("is an expression, which Fairway does not evaluate", "leave it out")
        zone = read_zone(spec["timezone"])
        times = tuple(read_timetable(one, zone) for one in _schedules(spec))
        spec["workflowSpec"].mapping()
        spec["workflowMetadata"].mapping()
        since = since_of(root["metadata"], root["status"]["lastScheduledTime"])
        more = read_common(spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
        root.problems.stop()
        known = Schedule(times, since, **more)
        return structs.replace(known, catches_up=bool(known.deadline), deadline=known.deadline or None, waits=False)

    def run_of(self, manifest: Json, at: int) -> Json:
        meta = manifest["spec"].get("workflowMetadata") or {}
        labels = {**(meta.get("labels") or {}), _LABEL: manifest["metadata"]["name"]}
        notes = {**(meta.get("annotations") or {}), _SCHEDULED: stamp(at)}
        spec = manifest["spec"].get("workflowSpec") or {}
        return self._object(manifest, at // 1_000, {"labels": labels, "annotations": notes}, spec)

    def status(self, runs: Sequence[Run], at: int | None, namespace: str) -> Json:
        made = {"lastScheduledTime": stamp(at)} if at is not None else {}
        return {**made, "active": self._active(runs, namespace)}


def _schedules(spec: Field) -> list[Field]:
    """`schedules`, or the one `schedule` that Argo had first."""
    several = spec["schedules"].items(_MOST_SCHEDULES)
    if several and spec["schedule"].given:
        spec["schedule"].wrong("stands beside schedules", "keep one of the two")
    return several or [spec["schedule"]]
