"""What jobs say of their priority, whether they may be evicted, and with what notice."""

from random import Random
from typing import Any

from fairway.workloads.reading.preemptible import EVICT_NOTICE, PREEMPTIBLE_LABELS

Json = dict[str, Any]
# By name: the value, and whether others are evicted for a job of the class.
CLASSES = {"low": (-100, True), "mid": (100, True), "high": (1_000, True), "patient": (2_000, False)}
_NAMES = ("", "low", "low", "mid", "mid", "high", "patient")
_FIXED = 0.12
_NOTICES = ("3s", "20s", "90s")
_NOTICED = 0.15


class EvictionJobs:
    """Drawn apart from the rest."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"eviction jobs {seed}")
        self._notices = Random(f"eviction notices {seed}")

    def marked(self, manifest: Json) -> Json:
        """With a priority class, some of them never to be evicted, and some with notice."""
        rng = self._rng
        name = rng.choice(_NAMES)
        meta = dict(manifest["metadata"])
        if rng.random() < _FIXED:
            meta["labels"] = {**meta.get("labels", {}), rng.choice(PREEMPTIBLE_LABELS): "false"}
        if self._notices.random() < _NOTICED:
            meta["annotations"] = {**meta.get("annotations", {}), EVICT_NOTICE: self._notices.choice(_NOTICES)}
        spec = _with_class(manifest["spec"], name) if name else manifest["spec"]
        return {**manifest, "metadata": meta, "spec": spec}


def _with_class(spec: Json, name: str) -> Json:
    if "driver" in spec:  # of a SparkApplication
        return {**spec, "driver": {**spec["driver"], "priorityClassName": name}}
    if "pytorchReplicaSpecs" in spec:
        roles = {role: _with_class(one, name) for role, one in spec["pytorchReplicaSpecs"].items()}
        return {**spec, "pytorchReplicaSpecs": roles}
    template = spec["template"]
    return {**spec, "template": {**template, "spec": {**template["spec"], "priorityClassName": name}}}
