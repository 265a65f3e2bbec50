"""The PriorityClasses of the hub: a number by name, and which one a job has that names none."""

from typing import Any

from msgspec import Struct, field


class PriorityClasses(Struct):
    values: dict[str, int] = field(default_factory=dict)
    default: str = ""

    def put(self, name: str, manifest: dict[str, Any]) -> None:
        self.drop(name)
        self.values[name] = int(manifest.get("value", 0))
        if manifest.get("globalDefault"):
            self.default = name

    def drop(self, name: str) -> None:
        self.values.pop(name, None)
        if name == self.default:
            self.default = ""
