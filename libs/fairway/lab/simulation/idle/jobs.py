"""The jobs of users that ask for idle resources."""

from random import Random
from typing import Any

from fairway.lab.simulation.members.pods import JOB, PYTORCH
from fairway.lab.simulation.members.spark import SPARK
from fairway.workloads.reading.batch_marks import BATCH, BEST_EFFORT, QOS_LABEL, ROOM_ANNOTATION

Json = dict[str, Any]
_SHARE = 0.6
_KINDS = (SPARK, SPARK, JOB, PYTORCH)


class IdleJobs:
    """Drawn apart from the rest. `jobs` are the ids of those that were made."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"idle jobs {seed}")
        self.jobs: set[str] = set()

    def asks(self, job: str) -> bool:
        """Whether this is one of them."""
        if self._rng.random() < _SHARE:
            self.jobs.add(job)
        return job in self.jobs

    def manifest(self, name: str, tenant: str) -> Json:
        """Its object says so, or its pods do."""
        kind = self._rng.choice(_KINDS)
        meta: Json = {"name": name, "namespace": tenant}
        if kind != PYTORCH:
            meta["annotations"] = {ROOM_ANNOTATION: BATCH}
        name, _, version = kind.partition(".")
        spec = {SPARK: self._spark, JOB: self._job, PYTORCH: self._pytorch}[kind]()
        return {"apiVersion": version, "kind": name, "metadata": meta, "spec": spec}

    def _spark(self) -> Json:
        executor = {"cores": self._rng.choice((1, 2, 4)), "memory": "7g", "memoryOverhead": "1g"}
        return {
            "type": "Scala",
            "mode": "cluster",
            "image": "x",
            "mainClass": "org.apache.spark.examples.SparkPi",
            "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
            "sparkVersion": "3.5.3",
            "restartPolicy": {"type": "Never"},
            "driver": {"cores": 1, "memory": "1g", "memoryOverhead": "1g"},
            "executor": {**executor, "instances": self._rng.choice((1, 2, 4, 8))},
        }

    def _job(self) -> Json:
        count = self._rng.choice((1, 1, 2, 4))
        return {"parallelism": count, "completions": count, "template": self._template()}

    def _pytorch(self) -> Json:
        template = {"metadata": {"labels": {QOS_LABEL: BEST_EFFORT}}, **self._template()}
        workers = self._rng.choice((1, 2, 3))
        roles = {"Master": 1, "Worker": workers}
        return {
            "pytorchReplicaSpecs": {role: {"replicas": count, "template": template} for role, count in roles.items()}
        }

    def _template(self) -> Json:
        requests = {"cpu": self._rng.choice(("2", "8")), "memory": self._rng.choice(("4Gi", "32Gi"))}
        container = {"name": "pytorch", "image": "x", "resources": {"requests": requests}}
        return {"spec": {"containers": [container], "restartPolicy": "Never"}}
