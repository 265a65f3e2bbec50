"""What jobs say of their priority, and whether they may be evicted."""

from random import Random
from typing import Any

from fairway.workloads.reading.preemptible import PREEMPTIBLE_LABELS

Json = dict[str, Any]
# By name: the value, and whether others are evicted for a job of the class.
CLASSES = {"low": (-100, True), "mid": (100, True), "high": (1_000, True), "patient": (2_000, False)}
_NAMES = ("", "low", "low", "mid", "mid", "high", "patient")
_FIXED = 0.12


class EvictionJobs:
    """Drawn apart from the rest."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"eviction jobs {seed}")

    def marked(self, manifest: Json) -> Json:
        """With a priority class, and some of them never to be evicted."""
        rng = self._rng
        name = rng.choice(_NAMES)
        meta = dict(manifest["metadata"])
        if rng.random() < _FIXED:
            meta["labels"] = {**meta.get("labels", {}), rng.choice(PREEMPTIBLE_LABELS): "false"}
        spec = _with_class(manifest["spec"], name) if name else manifest["spec"]
        return {**manifest, "metadata": meta, "spec": spec}


def _with_class(spec: Json, name: str) -> Json:
    if "pytorchReplicaSpecs" in spec:
        roles = {role: _with_class(one, name) for role, one in spec["pytorchReplicaSpecs"].items()}
        return {**spec, "pytorchReplicaSpecs": roles}
    template = spec["template"]
    return {**spec, "template": {**template, "spec": {**template["spec"], "priorityClassName": name}}}
