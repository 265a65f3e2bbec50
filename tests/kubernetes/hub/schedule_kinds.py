"""A schedule of every kind, of which a run has been due for a while."""

from typing import Any

from msgspec import Struct

from fairway.adapters.system_clock import SystemClock
from fairway.workloads.schedules.schedule import stamp
from tests.kubernetes.support.fleet import Api

Json = dict[str, Any]
HOUR = 3_600_000


class Kind(Struct, frozen=True):
    """`run` is the kind of its jobs; `last` the field of its status, in `part`, that says when it ran last."""

    name: str
    run: str
    api_version: str
    last: str
    part: str = "/status"

    def path(self, namespace: str, name: str = "") -> str:
        return f"{self.api_version}/namespaces/{namespace}/{self.name.lower()}s{f'/{name}' if name else ''}"

    def manifest(self, namespace: str, run: Json, **spec: Any) -> Json:
        """Every hour, with runs of this spec."""
        body: Json = {"template": run}
        if self.name == "CronJob":
            body = {"jobTemplate": {"metadata": {"labels": {"team": "x"}}, "spec": run}}
        elif self.name == "CronWorkflow":
            body = {"workflowSpec": run, "startingDeadlineSeconds": 3_600}
        return {
            "apiVersion": self.api_version,
            "kind": self.name,
            "metadata": {"name": "tick", "namespace": namespace},
            "spec": {"schedule": "0 * * * *", **body, **spec},
        }

    def ran_two_hours_ago(self, hub: Api, namespace: str) -> None:
        """Then nobody has to wait for the next hour."""
        at = stamp(SystemClock().now() - 2 * HOUR)
        hub.patch(f"{self.path(namespace, 'tick')}{self.part}", {"status": {self.last: at}})


CRON_JOB = Kind("CronJob", "Job", "batch/v1", "lastScheduleTime")
CRON_WORKFLOW = Kind("CronWorkflow", "Workflow", "argoproj.io/v1alpha1", "lastScheduledTime", "")
SCHEDULED_SPARK = Kind("ScheduledSparkApplication", "SparkApplication", "sparkoperator.k8s.io/v1beta2", "lastRun")
SCHEDULES = (CRON_JOB, CRON_WORKFLOW, SCHEDULED_SPARK)
