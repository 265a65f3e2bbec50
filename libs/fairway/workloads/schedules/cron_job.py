"""CronJob of batch/v1 (k8s pkg/controller/cronjob): of runs that were missed the newest is made, a run that is
forbidden waits until the one before has ended, and the run's name ends with the minutes of when it was meant.
"""

from collections.abc import Sequence

from fairway.workloads.reading.fields import read_root
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

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_FLEET = "fairway.io/fleet"


class CronJob(ScheduleKind):
    key = "CronJob.batch/v1"
    run = "Job.batch/v1"

    def read(self, manifest: Json) -> Schedule:
        root = read_root(manifest, "batch/v1", "CronJob")
        spec = root["spec"]
        read_name(root["metadata"]["name"], MOST_NAME)
        zone = read_zone(spec["timeZone"])
        times = (read_timetable(spec["schedule"], zone),)
        spec["jobTemplate"]["metadata"].mapping()
        spec["jobTemplate"]["spec"].mapping()
        since = since_of(root["metadata"], root["status"]["lastScheduleTime"])
        more = read_common(spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
        root.problems.stop()
        return Schedule(times, since, **more)

    def run_of(self, manifest: Json, at: int) -> Json:
        template = manifest["spec"]["jobTemplate"]
        meta = template.get("metadata") or {}
        notes = {**(meta.get("annotations") or {}), _SCHEDULED: stamp(at)}
        # Else a hub that has controllers of its own would run it.
        spec = {"managedBy": _FLEET, **template["spec"]}
        return self._object(manifest, at // 60_000, {**meta, "annotations": notes}, spec)

    def status(self, runs: Sequence[Run], at: int | None, namespace: str) -> Json:
        made = {"lastScheduleTime": stamp(at)} if at is not None else {}
        return {**made, "active": self._active(runs, namespace) or None}
