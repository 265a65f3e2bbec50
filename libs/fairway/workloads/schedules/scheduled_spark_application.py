"""ScheduledSparkApplication of the Spark operator (internal/controller/scheduledsparkapplication): of runs that were
missed one is made, and one that is forbidden waits until the one before has ended. Its operator names a run by the
moment at which it is made; here it is that for which it was meant. So a name does not keep the two from making a run
twice: its operator is waited for each time, and reads in `nextRun` that a run is not due any more.
"""

from collections.abc import Sequence

from msgspec import structs

from fairway.workloads.reading.fields import Field
from fairway.workloads.schedules.schedule import Json, Run, Schedule, ScheduleKind, check_given, stamp

_LABEL = "sparkoperator.k8s.io/scheduled-app-name"


class ScheduledSparkApplication(ScheduleKind):
    key = "ScheduledSparkApplication.sparkoperator.k8s.io/v1beta2"
    run = "SparkApplication.sparkoperator.k8s.io/v1beta2"
    last = "lastRun"
    history = ("successfulRunHistoryLimit", "failedRunHistoryLimit")
    keep = (1, 1)
    most_name = 35  # a run's name has twenty characters more, and that of its driver eight

    def read(self, manifest: Json) -> Schedule:
        return structs.replace(super().read(manifest), deadline=None, same_names=False)

    def check(self, spec: Field) -> None:
        check_given(spec["template"])

    def run_of(self, manifest: Json, at: int) -> Json:
        meta = manifest["metadata"]
        labels = {**(meta.get("labels") or {}), _LABEL: meta["name"]}
        return self._object(manifest, at * 1_000_000, {"labels": labels}, manifest["spec"]["template"])

    def status(self, runs: Sequence[Run], namespace: str) -> Json:
        ended = sorted((one for one in runs if one.ended), key=lambda one: one.created, reverse=True)
        return {
            "scheduleState": "Scheduled",
            "pastSuccessfulRunNames": [one.name for one in ended if one.well],
            "pastFailedRunNames": [one.name for one in ended if not one.well],
        }

    def made(self, name: str, at: int, following: int | None) -> Json:
        then = {"nextRun": stamp(following)} if following is not None else {}
        return {"lastRun": stamp(at), "lastRunName": name, **then}

    def active_names(self, manifest: Json) -> list[str]:
        """The last run may be under way."""
        status = manifest.get("status")
        name = status.get("lastRunName") if isinstance(status, dict) else None
        return [name] if isinstance(name, str) else []
