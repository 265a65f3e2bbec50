"""The memory of the hub service in parts: each fits into a message of the bus, and none changes after it was told.
That a memory made of them decides the same is shown with every test of the service (builders/hub_loop.py)."""

import msgspec

from fairway.hub.memory import HubMemory
from fairway.hub.remembering import parts
from fairway.runtime.views.settings import Catalog
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import job, policy

MESSAGE = 1 << 20


def test_thousands_of_objects_are_told_in_parts_that_fit_into_a_message_each() -> None:
    one = HubDriver()
    one.apply(*(job(f"j{number}") for number in range(3_000)))
    one.run(1_000)
    told = [*parts(one.memory)]
    assert len([part for part in told if part.table == "objects"]) > 5
    assert max(len(part.value) for part in told) < MESSAGE
    again = HubMemory(Catalog())
    again.begin()
    for part in told:
        again.recall(part.table, part.key, part.rev, bytes(part.value))
    assert again.objects.there == one.memory.objects.there
    assert again.turns.ready.keys() == one.memory.turns.ready.keys()


def test_a_part_is_what_it_was_when_it_was_told() -> None:
    one = HubDriver()
    one.apply(job())
    one.run(1_000)
    (before,) = [part for part in parts(one.memory) if part.table == "objects"]
    kept = bytes(before.value)
    one.apply(policy("all"))
    one.run(1_000)
    assert bytes(before.value) == kept
    ((_, known),) = msgspec.json.decode(before.value)
    assert not known.get("submitted")
