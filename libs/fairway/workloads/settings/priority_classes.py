"""The PriorityClasses of the hub: a number by name, for which of them others are evicted, and which one a job has that
names none."""

from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.node_terms import NEVER, PREEMPT_POLICIES
from fairway.workloads.reading.fields import Field, Problems

# HighestUserDefinablePriority of Kubernetes, which keeps what is above for itself and has two classes there.
MOST_OF_USERS = 1_000_000_000
_MOST = 2**31 - 1


def read_priority_class(manifest: dict[str, Any], most: int = _MOST) -> int:
    """Its value, at most `most`. Raises Refused."""
    problems = Problems()
    root = Field(manifest, problems)
    if not root["value"].given:
        root["value"].wrong("is missing", "write a whole number")
    value = root["value"].whole(0, -(2**31), most)
    root["globalDefault"].flag()
    root["preemptionPolicy"].choice(*PREEMPT_POLICIES)
    problems.stop()
    return value


class PriorityClasses(Struct):
    """For a job of a class that is in `never` nobody is evicted."""

    values: dict[str, int] = field(default_factory=dict)
    default: str = ""
    never: set[str] = field(default_factory=set)

    def take(self, name: str, manifest: dict[str, Any] | None) -> None:
        """A class as it is now; None: it is gone. One that does not read changes nothing."""
        value = int(manifest.get("value", 0)) if manifest is not None else None
        self.values.pop(name, None)
        self.never.discard(name)
        if name == self.default:
            self.default = ""
        if manifest is None or value is None:
            return
        self.values[name] = value
        self.default = name if manifest.get("globalDefault") else self.default
        if manifest.get("preemptionPolicy") == NEVER:
            self.never.add(name)

    def ranked(self, queue: QueueSpec) -> QueueSpec:
        """A queue with the priority that its class gives it, where it names one; 0 as long as that is not there."""
        if not queue.priority_class:
            return queue
        return replace(queue, priority=self.values.get(queue.priority_class, 0))
