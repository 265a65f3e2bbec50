"""Numbers as people read them: moments, durations, gangs, lists. Only for sentences, never parsed again."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from fairway.domain.resources import describe
from fairway.placement.shapes import ask, words
from fairway.wire.capacity import Slot
from fairway.wire.workload import Workload


def moment(at: int) -> str:
    """`2025-11-21 09:44:33Z` of milliseconds since 1970."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"


def rfc3339(at: int) -> str:
    """As Kubernetes has it, in whole seconds."""
    return f"{datetime.fromtimestamp(at // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def clock(at: int) -> str:
    """The time of day, `09:44:33Z`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M:%S}Z"


def span(milliseconds: int) -> str:
    """`340 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`: two units at most, nothing rounded up."""
    ms = max(0, milliseconds)
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 10_000:
        return f"{ms // 100 / 10:g} s"
    seconds = ms // 1000
    for unit, size, next_unit, next_size in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            rest = seconds % size // next_size
            return f"{seconds // size} {unit}" + (f" {rest} {next_unit}" if rest else "")
    return f"{seconds} s"


def many(count: int, noun: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Iterable[str], most: int = 5) -> str:
    """`a`, `a and b`, `a, b and 7 more`."""
    every = list(names)
    shown = every if len(every) <= most else [*every[: most - 1], f"{len(every) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "none"


def gang(workload: Workload) -> str:
    """What must find room at the same time, in words: `4 pods of 8 nvidia.com/gpu`."""
    return words(ask(workload).demand)


def pod_sets(workload: Workload) -> str:
    """`Master 1 × 1 cpu, Worker 3 × 8 nvidia.com/gpu`."""
    return "; ".join(f"{one.name} {one.count} × ({describe(one.requests)})" for one in workload.pod_sets)


def nodes(slots: Sequence[Slot]) -> str:
    """`n1: 2 Worker; n2: 1 Master, 1 Worker`, in the order of the plan."""
    by_node: dict[str, list[str]] = {}
    for slot in slots:
        by_node.setdefault(slot.node, []).append(f"{slot.count} {slot.pods}")
    return "; ".join(f"{node}: {', '.join(parts)}" for node, parts in by_node.items())


def node_count(slots: Sequence[Slot]) -> int:
    return len({slot.node for slot in slots})


def sentence(text: str) -> str:
    """A capital first and a full stop last, for a text that was written to stand inside another."""
    text = text.strip()
    if not text:
        return ""
    start = text[0].upper() + text[1:] if text[0].isascii() and text.split(maxsplit=1)[0].isalpha() else text
    return start if start.endswith((".", "!", "?")) else f"{start}."
