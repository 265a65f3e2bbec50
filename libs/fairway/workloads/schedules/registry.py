"""The kinds of schedules by their key, `Kind.group/version`."""

from collections.abc import Mapping

from fairway.workloads.schedules.cron_job import CronJob
from fairway.workloads.schedules.cron_workflow import CronWorkflow
from fairway.workloads.schedules.schedule import ScheduleKind
from fairway.workloads.schedules.scheduled_spark_application import ScheduledSparkApplication

SCHEDULES: Mapping[str, ScheduleKind] = {
    one.key: one for one in (CronJob(), CronWorkflow(), ScheduledSparkApplication())
}
# The kinds of their runs.
RUNS = frozenset(one.run for one in SCHEDULES.values())
