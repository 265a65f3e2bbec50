"""admission: a tenant that submits too much on the bus is refused, and nobody else."""

import msgspec
import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.admission.decide import decide
from fairway.admission.service import AdmissionMemory
from fairway.domain import decision
from fairway.domain.decision import Add, Heard
from fairway.domain.tenancy.submission_limits import Limits
from fairway.runtime.ports import Commit
from fairway.wire.reasons import Code
from tests.spec.admission.test_decide import View, catalog, manifest, submitted, view
from tests.spec.builders.views import adds, events, verbs

NOW = 1_700_000_000_000
FIVE = {"team-a": Limits(pending=5)}


def job(name: str, **more: object) -> Heard:
    said = submitted(manifest(name=name), client=name, **more)
    return msgspec.structs.replace(said, id=f"m-{name}")


@pytest.mark.parametrize(
    ("pending", "source", "want"),
    [
        pytest.param(4, "bus", ["admitted"], id="the last place"),
        pytest.param(5, "bus", ["rejected"], id="no place is left"),
        pytest.param(5, "http", ["admitted"], id="it was let in at the door"),
        pytest.param(5, "hub", ["admitted"], id="it was let in from the hub"),
    ],
)
def test_who_speaks_on_the_bus_is_refused_when_too_many_are_pending(pending: int, source: str, want: list[str]) -> None:
    heard = job("one", source=source)
    decided = decide(view(heard, pending={"team-a": pending}, limits=FIVE), heard, NOW)
    assert verbs(decided) == want


def test_a_refusal_has_its_code_its_numbers_and_a_remedy() -> None:
    heard = job("one")
    (said,) = events(decide(view(heard, pending={"team-a": 7}, limits=FIVE), heard, NOW))
    assert said.reasons[0].code is Code.TOO_MANY_PENDING
    assert said.reasons[0].text == "7 jobs of team-a are pending, and 5 may be"
    hasty = view(heard, limits={"team-a": Limits(rate=3)}, hasty={heard.id})
    (said,) = events(decide(hasty, heard, NOW))
    assert said.reasons[0].code is Code.TOO_FAST
    assert said.reasons[0].remedy


def test_another_admission_cannot_take_the_same_place() -> None:
    heard = job("one")
    (step,) = decide(view(heard, pending={"team-a": 4}, limits=FIVE), heard, NOW).steps
    assert Add(decision.PENDING, "team-a", 0, most=4) in step.writes
    assert adds(decide(view(heard), heard, NOW)) == {"pending team-a": 1}


async def opened(limits: dict[str, Limits]) -> tuple[AdmissionMemory, MemoryStore]:
    store = MemoryStore()
    hub = catalog()
    await store.finish_rebuild("1-a")
    hub.limits = limits
    return AdmissionMemory(hub), store


async def admitted(own: AdmissionMemory, store: MemoryStore, batch: list[Heard], now: int = NOW) -> list[str]:
    """What is said of each, as the loop has it."""
    said = []
    own.take(await store.read(own.wants(batch, now)), batch, now)
    for heard in batch:
        decided = decide(own, heard, now)
        said += verbs(decided)
        for step in decided.steps:
            own.apply(step)
        assert all(await store.commit(Commit(decided.steps)))
    return said


async def test_the_places_are_counted_within_a_batch_and_from_one_to_the_next() -> None:
    own, store = await opened({"team-a": Limits(pending=3)})
    assert await admitted(own, store, [job(f"j{n}") for n in range(2)]) == ["admitted"] * 2
    assert await admitted(own, store, [job(f"k{n}") for n in range(3)]) == ["admitted", "rejected", "rejected"]
    assert store.counters["pending"] == {"team-a": 3}


async def test_the_rate_counts_each_message_once_however_often_it_is_looked_at() -> None:
    own, store = await opened({"team-a": Limits(rate=2)})
    batch = [job(f"j{n}") for n in range(3)]
    for _ in range(5):
        own.wants(batch, NOW)
    assert await admitted(own, store, batch) == ["admitted", "admitted", "rejected"]
    assert await admitted(own, store, [job("later")], NOW + 600) == ["admitted"]


async def test_without_limits_nothing_more_is_read() -> None:
    own, _ = await opened({})
    assert own.wants([job("one")], NOW).whole == ()
    assert isinstance(view(job("one")), View)
