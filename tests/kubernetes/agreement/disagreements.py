"""Where a real scheduler did not do what Fairway said, each told so that it can be run again; and the figures."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from tests.kubernetes.agreement.cluster import Outcome


def disagreements(outcomes: Iterable[Outcome]) -> list[str]:
    """Empty where all agree."""
    return [_told(one, wrong) for one in outcomes for wrong in _wrong(one)]


def _wrong(one: Outcome) -> Iterator[str]:
    pods = one.place.case.pods
    if one.said.fits and one.planned.bound < pods:
        yield f"{one.planned.bound} of {pods} pods were placed where they were planned"
    if one.free is not None and not _as_said(one, one.free.bound):
        yield f"{one.free.bound} of {pods} equal pods were placed, and {one.said.by_node} were said to fit"


def _as_said(one: Outcome, placed: int) -> bool:
    """Of equal pods; of others nothing is said but where they are planned."""
    pods = one.place.case.pods
    if one.said.fits:
        return placed == pods or one.said.shapes > 1
    alone = one.place.scheduler == "kube-scheduler"  # the others place a gang whole or not at all
    return not one.said.exact or (placed == one.said.by_node if alone else placed < pods)


def _told(one: Outcome, wrong: str) -> str:
    case = one.place.case
    against = one.free.against if one.free is not None else ()
    lines = (
        f"{one.place.scheduler}, case {case.number} of seed {case.seed}: {wrong}",
        f"Fairway said {one.said.words}, with the plan {one.said.slots}",
        f"the scheduler said, of planned pods: {one.planned.against}; of free ones: {against}",
        *(f"node {index}: {msgspec.json.encode(node).decode()}" for index, node in enumerate(case.nodes)),
        *(f"pods: {msgspec.json.encode(pods).decode()}" for pods in case.gang),
        f"again: python -m tests.kubernetes.agreement {case.seed} {case.number}",
    )
    return "\n  ".join(lines)


def figures(outcomes: Iterable[Outcome]) -> str:
    """A line for each scheduler."""
    found: dict[str, Counter[str]] = {}
    for one in outcomes:
        found.setdefault(one.place.scheduler, Counter()).update(_counted(one))
    return "\n".join(f"{name}: {_line(counts)}" for name, counts in found.items())


def _counted(one: Outcome) -> Iterator[str]:
    shapes = "several shapes" if one.said.shapes > 1 else "one shape"
    pods = one.place.case.pods
    yield "cases"
    if one.said.fits:
        yield "fit"
        if one.planned.bound == pods:
            yield "placed as planned"
    said = "fit" if one.said.fits else "do not fit"
    if one.free is None:
        yield f"of {shapes} {said}, not tried freely"
        return
    yield f"of {shapes} {said}"
    if one.free.bound == pods:
        yield f"of {shapes} {said} and were placed freely"


def _line(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[what]} {what}" for what in _ORDER if counts[what] or "not tried" not in what)


_ORDER = (
    "cases",
    "fit",
    "placed as planned",
    *(
        f"of {shapes} {said}{placed}"
        for said in ("fit", "do not fit")
        for shapes in ("one shape", "several shapes")
        for placed in ("", " and were placed freely", ", not tried freely")
    ),
)
