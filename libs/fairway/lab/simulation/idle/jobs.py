"""The jobs of users that ask for idle resources."""

from random import Random
from typing import Any

from fairway.lab.simulation.members.pods import JOB, PYTORCH
from fairway.lab.simulation.members.spark import SPARK
from fairway.workloads.reading.batch_marks import BATCH, BATCH_FIRST, BEST_EFFORT, QOS_LABEL, ROOM_ANNOTATION

Json = dict[str, Any]
_SHARE = 0.6
_EITHER = 0.35
_KINDS = (SPARK, SPARK, JOB, PYTORCH)


class IdleJobs:
    """Drawn apart from the rest. `jobs` are the ids of those that were made, `either` of those among them that may have
    cpu and memory, too, where there are no idle resources."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"idle jobs {seed}")
        self._rooms = Random(f"idle jobs that may have either {seed}")
        self.jobs: set[str] = set()
        self.either: set[str] = set()

    def asks(self, job: str) -> bool:
        """Whether this is one of them."""
        if self._rng.random() < _SHARE:
            self.jobs.add(job)
            if self._rooms.random() < _EITHER:
                self.either.add(job)
        return job in self.jobs

    def manifest(self, name: str, tenant: str, job: str) -> Json:
        """Its object says so, or its pods do."""
        either = job in self.either
        kind = self._rng.choice(_KINDS)
        meta: Json = {"name": name, "namespace": tenant}
        if either or kind != PYTORCH:
            meta["annotations"] = {ROOM_ANNOTATION: BATCH_FIRST if either else BATCH}
        name, _, version = kind.partition(".")
        labels = {} if either else {QOS_LABEL: BEST_EFFORT}
        spec = {SPARK: self._spark, JOB: self._job}[kind]() if kind != PYTORCH else self._pytorch(labels)
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

    def _pytorch(self, labels: dict[str, str]) -> Json:
        template = {"metadata": {"labels": labels}, **self._template()}
        workers = self._rng.choice((1, 2, 3))
        roles = {"Master": 1, "Worker": workers}
        return {
            "pytorchReplicaSpecs": {role: {"replicas": count, "template": template} for role, count in roles.items()}
        }

    def _template(self) -> Json:
        requests = {"cpu": self._rng.choice(("2", "8")), "memory": self._rng.choice(("4Gi", "32Gi"))}
        container = {"name": "pytorch", "image": "x", "resources": {"requests": requests}}
        return {"spec": {"containers": [container], "restartPolicy": "Never"}}
