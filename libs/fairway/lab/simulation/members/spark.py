"""SparkApplications of a simulated member: a driver and its executors, sized in so many words."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
SPARK = "SparkApplication.sparkoperator.k8s.io/v1beta2"
DRIVER = "driver"
EXECUTOR = "executor"


def roles(spec: Json) -> Iterator[tuple[str, int, dict[str, str], dict[str, str]]]:
    """Of each: its name, how many pods, their labels and their requests."""
    for name in (DRIVER, EXECUTOR):
        one = spec.get(name) or {}
        gib = [int(one.get(field, "0g").removesuffix("g")) for field in ("memory", "memoryOverhead")]
        requests = {"cpu": str(one.get("cores", 1)), "memory": f"{sum(gib)}Gi"}
        yield name, int(one.get("instances", 1)), dict(one.get("labels") or {}), requests


def status(state: str, up: int = 0, gone: int = 0) -> Json:
    """What the operator shows: so many executors are up, and so many are no more."""
    shown = {f"executor-{number}": "RUNNING" for number in range(up)} | {f"gone-{n}": "FAILED" for n in range(gone)}
    return {"applicationState": {"state": state}, "executorState": shown}
