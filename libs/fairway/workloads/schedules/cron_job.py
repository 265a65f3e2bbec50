"""CronJob of batch/v1 (k8s pkg/controller/cronjob): of runs that were missed the newest is made, a run that is
forbidden waits until the one before has ended, and the run's name ends with the minutes of when it was meant.
"""

from collections.abc import Sequence

from fairway.workloads.reading.fields import Field
from fairway.workloads.schedules.schedule import Json, Run, ScheduleKind, check_given, check_marks, stamp

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_FLEET = "fairway.io/fleet"


class CronJob(ScheduleKind):
    key = "CronJob.batch/v1"
    run = "Job.batch/v1"
    last = "lastScheduleTime"

    def check(self, spec: Field) -> None:
        check_marks(spec["jobTemplate"]["metadata"])
        check_given(spec["jobTemplate"]["spec"])

    def run_of(self, manifest: Json, at: int) -> Json:
        template = manifest["spec"]["jobTemplate"]
        meta = template.get("metadata") or {}
        notes = {**(meta.get("annotations") or {}), _SCHEDULED: stamp(at)}
        # Else a hub that has controllers of its own would run it.
        spec = {"managedBy": _FLEET, **template["spec"]}
        return self._object(manifest, at // 60_000, {**meta, "annotations": notes}, spec)

    def status(self, runs: Sequence[Run], namespace: str) -> Json:
        return {"active": self._active(runs, namespace) or None}
