"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

import pytest

from fairway.lab.simulation.run import simulate
from tests.simulation.mutations import MUTATIONS
from tests.simulation.pins import on_page, plan_of, table

# The rule that broke first, and the profile and the seed at which it was (pins.py finds them anew).
FOUND_AT: dict[str, tuple[str, tuple[str, int]]] = {
    "unsaid": ("reason", ("rough", 6)),
    "early": ("reason", ("hostile", 16)),
    "unguarded": ("quota", ("rough", 0)),
    "chained": ("room", ("rough", 248)),
    "unrecorded": ("record", ("rough", 3)),
    "stale": ("lost", ("rough", 0)),
    "forgetful": ("room", ("rough", 18)),
    "unmet": ("lost", ("rough", 35)),
    "impatient": ("one attempt", ("rough", 8)),
    "generous": ("quota", ("rough", 0)),
    "greedy": ("quota", ("rough", 0)),
    "hasty": ("quota", ("rough", 1)),
    "uncharged": ("quota", ("rough", 0)),
    "credulous": ("truth", ("hostile", 1)),
    "trusting": ("room", ("rough", 40)),
    "dateless": ("frozen", ("hostile", 96)),
    "unlabelled": ("truth", ("rough", 0)),
    "keeping": ("liveness", ("rough", 0)),
    "blind": ("liveness", ("rough", 12)),
    "deaf": ("cancel", ("rough", 1)),
    "mute": ("reason", ("rough", 8)),
    "fearless": ("frozen", ("hostile", 0)),
    "hopeful": ("frozen", ("rough", 66)),
    "gullible": ("size", ("hostile", 0)),
    "oblivious": ("hub deleted", ("rough with a hub", 29)),
    "despairing": ("hub status", ("rough with a hub", 1)),
    "mistaken": ("hub held", ("calm with a hub", 0)),
    "sleeping": ("hub held", ("calm with a hub", 0)),
    "unmindful": ("hub held", ("calm with a hub", 1)),
    "overwriting": ("hub status", ("rough with a hub", 8)),
    "forgiving": ("hub status", ("rough with a hub", 4)),
    "stubborn": ("hub wish", ("calm with a hub", 1)),
    "clinging": ("hub held", ("calm with a hub", 0)),
    "lawless": ("hub settings", ("rough with a hub", 5)),
    "silent": ("hub lost", ("calm with a hub", 0)),
    "repeating": ("hub events", ("calm with a hub", 2)),
    "labelling": ("hub write", ("calm with a hub", 0)),
    "twofold": ("hub twice", ("rough with a hub", 1)),
    "outdated": ("hub binding", ("calm with a hub", 3)),
    "insisting": ("hub owner", ("rough with a hub", 9)),
    "abandoning": ("hub binding", ("rough with a hub", 22)),
    "boundless": ("room", ("calm with idle resources", 329)),
    "proud": ("room", ("calm with idle resources", 0)),
    "eager": ("room", ("calm with idle resources", 0)),
    "spending": ("batch", ("calm with idle resources", 0)),
    "displaced": ("batch", ("calm with idle resources", 0)),
    "ending": ("batch", ("calm with idle resources", 0)),
    "returning": ("batch", ("calm with idle resources", 0)),
    "rash": ("batch", ("calm with idle resources", 1)),
    "lenient": ("batch", ("calm with idle resources", 3)),
    "unmarked": ("online", ("calm with idle resources", 0)),
    "levelling": ("precedes", ("calm with evictions", 1)),
    "grabbing": ("kept", ("calm with evictions", 0)),
    "careless": ("kept", ("calm with evictions", 5)),
    "wasteful": ("needed", ("calm with evictions", 3)),
    "charging": ("victim", ("calm with evictions", 22)),
    "ruthless": ("victim", ("calm with evictions", 10)),
    "everlasting": ("claim", ("calm with evictions", 1)),
    "overtaking": ("victim", ("calm with evictions", 0)),
    "rushing": ("victim", ("calm with evictions", 1)),
    "quarrelling": ("precedes", ("calm with evictions", 2)),
    "lavish": ("lending", ("calm with evictions", 0)),
    "modest": ("owed", ("calm with evictions", 3)),
    "fickle": ("wasted", ("calm with evictions", 1)),
    "abrupt": ("notice", ("calm with evictions", 2)),
    "immovable": ("min", ("calm with evictions", 10)),
}
# Rules that are broken there, too, and nowhere first: who has them broken has broken another one before.
BESIDE = {"quarrelling": "cycle"}


def test_the_page_says_of_each_where_it_is_found() -> None:
    assert on_page() == table(FOUND_AT), "python -m tests.simulation.pins --page writes it"


@pytest.mark.parametrize("where", sorted({where for _, where in FOUND_AT.values()}), ids=str)
def test_without_a_fault_nothing_breaks_there(where: tuple[str, int]) -> None:
    assert not simulate(plan_of(*where)).violations


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    rule, where = FOUND_AT[mutation.__name__]
    mutation(monkeypatch)
    broken = [one.rule for one in simulate(plan_of(*where)).violations]
    assert broken, f"{mutation.__doc__} Nobody noticed."
    assert broken[0] == rule
    assert BESIDE.get(mutation.__name__, rule) in broken
