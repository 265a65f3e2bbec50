"""Pods come until they ask for 130 % of all GPUs: what part of them is allocated at 100 % and at the end."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev

from msgspec import Struct

from fairway.client.failure import USAGE, Failure
from fairway.lab.bench.allocation import load
from fairway.lab.bench.allocation.policies import BestFitNode, FairwayNode, FreeNodes, NodePicker, RandomNode
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import AllocationRun
from fairway.lab.traces.trace import GPU
from fairway.wire.capacity import Node

_STUBBED = "all but the choice of a node: Fairway's placement is called in this process, no pod runs or ends"
_RULES = {
    load.WHOLE: "a part of a GPU is placed as a whole one: allocated is what rows ask for, held is what they get",
    load.LEFT_OUT: "rows that ask for a part of a GPU are never drawn",
}
_CHOICES = {"trace": ("openb",), "by": ("model", "round-robin"), "parts": tuple(_RULES)}
Made = Callable[[FreeNodes, int], NodePicker]


class Allocated(Struct, frozen=True):
    """Percent of all GPUs when the pods that came asked for 100 % of them, and in the end: `asked` for by pods that
    have a node, and `held` for them."""

    asked_100: float
    asked_130: float
    held_100: float
    held_130: float
    overfull: int


async def measure(run: AllocationRun, dir: Path, tell: Tell) -> BenchOutcome:
    """Keeps nothing in `dir`."""
    _check(run)
    file = Path(run.file)
    pods = load.pods(file, run.parts)
    nodes = load.nodes(file)
    gpus = sum(node.allocatable[GPU] for node in nodes)
    outcome = BenchOutcome(figures={}, stubbed=f"{_STUBBED}; {_RULES[run.parts]}")
    outcome.counts = {"nodes": len(nodes), "gpus": gpus, "seeds": run.seeds, "overfull": 0}
    for name, made in _policies(run, nodes).items():
        tell(name, run.seeds)
        found = []
        for seed in range(1, run.seeds + 1):
            free = FreeNodes(nodes)
            found.append(allocate(load.drawn(pods, 1000 * gpus, seed), free, made(free, seed)))
            tell("", 1)
        _take(outcome, name, found)
    if outcome.counts["overfull"]:
        outcome.wrong = f"{outcome.counts['overfull']} amounts of nodes were given twice"
    return outcome


def _check(run: AllocationRun) -> None:
    for option, known in _CHOICES.items():
        if (given := getattr(run, option)) not in known:
            raise Failure(USAGE, f"{option} is {given!r}", f"choose from {', '.join(known)}")


def _policies(run: AllocationRun, nodes: Sequence[Node]) -> dict[str, Made]:
    def fairway(count: int) -> Made:
        return lambda free, seed: FairwayNode(free, load.clusters_of(nodes, count, run.by))

    ours = {f"fairway_{count}": fairway(count) for count in run.clusters}
    return {"random": RandomNode, "best_fit": lambda free, seed: BestFitNode(free), **ours}


def allocate(pods: Iterable[load.DrawnPod], free: FreeNodes, picker: NodePicker) -> Allocated:
    """One draw of pods, one after the other, onto nodes on which nothing is yet."""
    gpus = free.gpus
    came = asked = held = 0
    full: tuple[int, int] | None = None
    for number, pod in enumerate(pods):
        came += pod.milli
        at = picker.node(pod, f"pod-{number}")
        if at is not None:
            free.take(at, pod.job)
            asked += pod.milli
            held += pod.job.gpus
        if full is None and came >= 1000 * gpus:
            full = (asked, held)
    asked_100, held_100 = full or (asked, held)
    return Allocated(
        asked_100=asked_100 / gpus / 10,
        asked_130=asked / gpus / 10,
        held_100=100 * held_100 / gpus,
        held_130=100 * held / gpus,
        overfull=free.overfull,
    )


def _take(outcome: BenchOutcome, name: str, found: Sequence[Allocated]) -> None:
    """The means of a policy over the seeds, and beside them how far the seeds differ."""
    for what, field in (("allocated", "asked"), ("held", "held")):
        for at in (100, 130):
            values = [getattr(one, f"{field}_{at}") for one in found]
            figure = f"{what}_percent_at_{at}_{name}"
            outcome.figures[figure] = round(fmean(values), 2)
            outcome.details[figure] = {
                "stdev": round(stdev(values), 2) if len(values) > 1 else 0.0,
                "by_seed": [round(one, 2) for one in values],
            }
    outcome.counts["overfull"] += sum(one.overfull for one in found)
