"""CronWorkflow of Argo (workflow/cron/operator.go): a run that was missed is made within startingDeadlineSeconds alone,
one that is forbidden is left out, and the run's name ends with the seconds of when it was meant.
"""

from msgspec import structs

from fairway.workloads.reading.fields import Field
from fairway.workloads.schedules.schedule import Json, Schedule, ScheduleKind, check_given, check_marks, stamp

_LABEL = "workflows.argoproj.io/cron-workflow"
_SCHEDULED = "workflows.argoproj.io/scheduled-time"
_MOST_SCHEDULES = 50


class CronWorkflow(ScheduleKind):
    key = "CronWorkflow.argoproj.io/v1alpha1"
    run = "Workflow.argoproj.io/v1alpha1"
    last = "lastScheduledTime"
    part = ""  # its definition has no status subresource
    zone = "timezone"

    def read(self, manifest: Json) -> Schedule:
        known = super().read(manifest)
        return structs.replace(known, catches_up=bool(known.deadline), deadline=known.deadline or None, waits=False)

    def schedules(self, spec: Field) -> list[Field]:
        """`schedules`, or the one `schedule` that Argo had first."""
        several = spec["schedules"].items(_MOST_SCHEDULES)
        if several and spec["schedule"].given:
            spec["schedule"].wrong("stands beside schedules", "keep one of the two")
        return several or super().schedules(spec)

    def check(self, spec: Field) -> None:
        for name in ("when", "stopStrategy"):
            if spec[name].given:
                spec[name].wrong("is an expression, which Fairway does not evaluate", "leave it out")
        check_marks(spec["workflowMetadata"])
        check_given(spec["workflowSpec"])

    def run_of(self, manifest: Json, at: int) -> Json:
        meta = manifest["spec"].get("workflowMetadata") or {}
        labels = {**(meta.get("labels") or {}), _LABEL: manifest["metadata"]["name"]}
        notes = {**(meta.get("annotations") or {}), _SCHEDULED: stamp(at)}
        spec = manifest["spec"]["workflowSpec"]
        return self._object(manifest, at // 1_000, {"labels": labels, "annotations": notes}, spec)
