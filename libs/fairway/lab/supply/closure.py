"""Which packages a list of requirements brings, as installed packages say it of themselves, and on which machine."""

from collections.abc import Iterable, Mapping
from importlib.metadata import requires

from packaging.requirements import Requirement

from fairway.lab.supply.locked import normalized
from fairway.lab.supply.wheels import PYTHON

# The image, for the conditions of requirements; the machine is of no consequence to those that are known.
IMAGE: Mapping[str, str] = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": f"{PYTHON}.14",
    "python_version": PYTHON,
    "sys_platform": "linux",
}


def closure(wanted: Iterable[str], environment: Mapping[str, str] = IMAGE) -> dict[str, set[str]]:
    """Every package that comes along, by normalized name, and what it needs itself. A package is asked again for each
    extra that somebody wants of it. Raises importlib.metadata.PackageNotFoundError for one that is not installed."""
    graph: dict[str, set[str]] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [each for line in wanted for each in _with_extras(Requirement(line), "", environment)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        needs = [each for line in requires(name) or () for each in _with_extras(Requirement(line), extra, environment)]
        graph.setdefault(name, set()).update(needed for needed, _ in needs)
        waiting += needs
    return graph


def _with_extras(one: Requirement, extra: str, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The package alone and with each of its extras, if the requirement holds there."""
    if one.marker is not None and not one.marker.evaluate({**environment, "extra": extra}):
        return []
    return [(normalized(one.name), each) for each in ("", *sorted(one.extras))]
