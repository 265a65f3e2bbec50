"""The PriorityClasses of the hub: a number by name, and which one a job has that names none."""

from typing import Any

from msgspec import Struct, field

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
    problems.stop()
    return value


class PriorityClasses(Struct):
    values: dict[str, int] = field(default_factory=dict)
    default: str = ""

    def take(self, name: str, manifest: dict[str, Any] | None) -> None:
        """A class as it is now; None: it is gone."""
        self.values.pop(name, None)
        if name == self.default:
            self.default = ""
        if manifest is not None:
            self.values[name] = int(manifest.get("value", 0))
            self.default = name if manifest.get("globalDefault") else self.default
