"""Finds anew at which seeds the deliberate faults are found: `python -m tests.simulation.pins` prints FOUND_AT of
test_finds.py. To be run when the order of what is drawn from chance has changed; with names, for these alone. With
`--page` it writes what stands in FOUND_AT into the table of docs/reliability.md instead."""

import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import pytest

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.faults import PROFILES
from fairway.lab.simulation.run import simulate
from tests.paths import ROOT
from tests.simulation.faulty import evictions as faulty_evictions
from tests.simulation.faulty import hub as faulty_hub
from tests.simulation.faulty import idle as faulty_idle
from tests.simulation.mutations import MUTATIONS

_SEEDS = 200
WITH_HUB = " with a hub"
WITH_IDLE = " with idle resources"
WITH_EVICTIONS = " with evictions"
_PARTS = (WITH_HUB, WITH_IDLE, WITH_EVICTIONS)
PAGE = ROOT / "docs" / "reliability.md"
_TABLE = re.compile(r"(?<=\| fault \| profile, seed \| first breach \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")
FoundAt = Mapping[str, tuple[str, tuple[str, int]]]


def table(found_at: FoundAt) -> str:
    """The rows of the page."""
    rows = [(one.__doc__, *found_at[one.__name__]) for one in MUTATIONS]
    return "".join(f"| {text} | {profile}, {seed} | {rule} |\n" for text, rule, (profile, seed) in rows)


def on_page() -> str:
    found = _TABLE.search(PAGE.read_text())
    return found.group() if found else ""


def write_page(found_at: FoundAt) -> None:
    PAGE.write_text(_TABLE.sub(lambda _: table(found_at), PAGE.read_text()))


def plan_of(profile: str, seed: int) -> RunPlan:
    """A profile may be one with a hub, with idle resources or with evictions, and then with more jobs."""
    hub, idle, evictions = (profile.endswith(one) for one in _PARTS)
    name = profile.partition(" ")[0]
    jobs = 40 if evictions else 24
    return RunPlan(seed, hours=0.2, profile=name, jobs=jobs, hub=hub, idle=idle, evictions=evictions)


def profiles(mutation: Callable[[pytest.MonkeyPatch], None]) -> tuple[str, ...]:
    """In which it is looked for."""
    parts = {faulty_hub: WITH_HUB, faulty_idle: WITH_IDLE, faulty_evictions: WITH_EVICTIONS}
    suffix = {one.__name__: said for one, said in parts.items()}.get(mutation.__module__)
    return tuple(f"{one}{suffix}" for one in PROFILES) if suffix else ("rough", "hostile")


def sound(where: tuple[str, int]) -> bool:
    """Whether nothing breaks there without a fault."""
    return not simulate(plan_of(*where)).violations


def found(name: str) -> tuple[str, tuple[str, int] | None, str]:
    """Where it is found first, and the first rule that it breaks; None when it is found nowhere."""
    mutation = next(one for one in MUTATIONS if one.__name__ == name)
    for profile, seed in product(profiles(mutation), range(_SEEDS)):
        with pytest.MonkeyPatch.context() as patch:
            mutation(patch)
            breaches = simulate(plan_of(profile, seed)).violations
        if breaches and sound((profile, seed)):
            return name, (profile, seed), breaches[0].rule
    return name, None, ""


def main() -> None:
    if sys.argv[1:] == ["--page"]:
        from tests.simulation.test_finds import FOUND_AT

        write_page(FOUND_AT)
        return
    wanted = sys.argv[1:] or [one.__name__ for one in MUTATIONS]
    with ProcessPoolExecutor() as pool:
        for name, where, rule in pool.map(found, wanted):
            print(f'    "{name}": ("{rule}", {where}),', flush=True)


if __name__ == "__main__":
    main()
