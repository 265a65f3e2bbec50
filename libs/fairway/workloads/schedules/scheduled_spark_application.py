"""ScheduledSparkApplication of the Spark operator (internal/controller/scheduledsparkapplication): of runs that were
missed one is made, and one that is forbidden waits until the one before has ended. Its operator names a run by the
moment at which it is made; here it is that for which it was meant.
"""

from collections.abc import Sequence

from fairway.workloads.reading.fields import read_root
from fairway.workloads.reading.names import read_name
from fairway.workloads.schedules.schedule import (
    Json,
    Run,
    Schedule,
    ScheduleKind,
    read_common,
    since_of,
    stamp,
)
from fairway.workloads.schedules.timetable import read_timetable, read_zone

_LABEL = "sparkoperator.k8s.io/scheduled-app-name"
# A run's name has twenty characters more, and that of its driver eight.
_MOST_NAME = 35
_HISTORY = ("successfulRunHistoryLimit", "failedRunHistoryLimit")


class ScheduledSparkApplication(ScheduleKind):
    key = "ScheduledSparkApplication.sparkoperator.k8s.io/v1beta2"
    run = "SparkApplication.sparkoperator.k8s.io/v1beta2"

    def read(self, manifest: Json) -> Schedule:
        root = read_root(manifest, "sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication")
        spec = root["spec"]
        read_name(root["metadata"]["name"], _MOST_NAME)
        zone = read_zone(spec["timeZone"])
        times = (read_timetable(spec["schedule"], zone),)
        spec["template"].mapping()
        since = since_of(root["metadata"], root["status"]["lastRun"])
        more = read_common(spec, *_HISTORY)
        root.problems.stop()
        keep = [more["keep"][at] if spec[name].given else 1 for at, name in enumerate(_HISTORY)]
        return Schedule(times, since, **{**more, "deadline": None, "keep": tuple(keep)})

    def run_of(self, manifest: Json, at: int) -> Json:
        meta = manifest["metadata"]
        labels = {**(meta.get("labels") or {}), _LABEL: meta["name"]}
        return self._object(manifest, at * 1_000_000, {"labels": labels}, manifest["spec"].get("template") or {})

    def status(self, runs: Sequence[Run], at: int | None, namespace: str) -> Json:
        ended = sorted((one for one in runs if one.ended), key=lambda one: one.created, reverse=True)
        shown: Json = {
            "scheduleState": "Scheduled",
            "pastSuccessfulRunNames": [one.name for one in ended if one.well],
            "pastFailedRunNames": [one.name for one in ended if not one.well],
        }
        return {**shown, "lastRun": stamp(at)} if at is not None else shown
