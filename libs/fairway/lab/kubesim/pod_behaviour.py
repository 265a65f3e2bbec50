"""How a simulated pod behaves: the fairway.test/ annotations."""

import re

import msgspec

from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.errors import Json

PREFIX = "fairway.test/"
RUN_FOR = PREFIX + "run-for"
EXIT_CODE = PREFIX + "exit-code"
# Set by the operators: pods of one group start to count together, when `size` of them run.
GROUP = PREFIX + "group"
GROUP_SIZE = PREFIX + "group-size"
GROUP_ROLE = PREFIX + "group-role"  # leader | member | server: the last ends only when deleted
GROUP_BREAKS = PREFIX + "group-breaks"  # "true": its failure ends the group

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_UNIT = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


class RunSpec(msgspec.Struct, frozen=True):
    """Times in milliseconds. `run_ms` None: runs for ever. `starts` False: stays Pending on its node."""

    run_ms: int | None
    exit_code: int = 0
    reason: str = ""
    start_ms: int = 0
    stop_ms: int = 0
    starts: bool = True
    group: str = ""
    group_size: int = 0
    leader: bool = False
    server: bool = False
    breaks: bool = False


def milliseconds(text: str) -> int | None:
    """`300ms`, `1.5s`, `1m30s`; None for `never`. ValueError for anything else."""
    if text == "never":
        return None
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration; write 300ms, 2s, 1m30s or never")
    return round(sum(float(number) * _UNIT[unit] for number, unit in parts))


def of_pod(pod: Json, cluster: str, default_ms: int) -> RunSpec:
    """What the pod's annotations say; what cannot be read counts as not said."""
    found = pod["metadata"].get("annotations") or {}
    code = _number(found.get(EXIT_CODE), 0)
    if cluster in _names(found.get(PREFIX + "fail-in-cluster")):
        code = code or 1
    return RunSpec(
        run_ms=_duration(found.get(RUN_FOR), default_ms),
        exit_code=code,
        reason=found.get(PREFIX + "reason", ""),
        start_ms=_duration(found.get(PREFIX + "start-after"), 0) or 0,
        stop_ms=_duration(found.get(PREFIX + "stop-after"), 0) or 0,
        starts=cluster not in _names(found.get(PREFIX + "never-start-in-cluster")),
        group=found.get(GROUP, ""),
        group_size=_number(found.get(GROUP_SIZE), 0),
        leader=found.get(GROUP_ROLE) == "leader",
        server=found.get(GROUP_ROLE) == "server",
        breaks=found.get(GROUP_BREAKS) == "true",
    )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",")]


def _number(text: str | None, default: int) -> int:
    return int(text) if text and is_whole(text) else default


def _duration(text: str | None, default: int) -> int | None:
    try:
        return milliseconds(text) if text else default
    except ValueError:
        return default
