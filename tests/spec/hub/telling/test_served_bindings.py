"""Bindings that the hub serves, or not, or not any more; and those of objects that are gone."""

from fairway.hub import messages as local
from fairway.hub.telling.bindings import KIND as BINDING
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import not_taken
from tests.spec.hub.hub_objects import JOB
from tests.spec.hub.intake.test_owners_wish import waiting
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, TRAIN, running
from tests.spec.hub.telling.test_telling import OOM, back


def test_a_hub_without_bindings_is_told_by_events_alone_and_has_them_once_it_serves_them() -> None:
    one = HubDriver(served=False)
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    running(one)
    one.run(5_000)
    assert (one.events(TRAIN), "bind" in one.hub.verbs()) == (["Running"], False)
    one.served = True
    one.restart()
    one.run(5_000)
    assert one.conditions(TRAIN)["Scheduled"][0] == "True"


def test_nobody_is_told_before_it_is_known_whether_there_are_bindings() -> None:
    """Else a word would be acknowledged that the binding does not have when this process dies."""
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    one.start()
    one.inbox.local(local.ComplaintsRead(()))
    one.see(one.hub.objects)
    one.inbox.local(local.ObjectsListed())
    running(one)
    one.run(30_000)
    assert (one.events(TRAIN), len(one.inbox.open)) == ([], 4)
    one.inbox.local(local.BindingsListed())
    one.run(5_000)
    assert (one.events(TRAIN), one.inbox.open) == (["Running"], {})
    assert one.conditions(TRAIN)["Scheduled"][0] == "True"


def test_a_hub_that_serves_no_bindings_any_more_is_not_asked_for_each() -> None:
    one, life = waiting()
    one.hub.refuses["bind"] = not_taken(code="NotServed")
    back(one, life)
    one.run(3_000)
    asked = one.hub.verbs().count("bind")
    back(one, life, OOM)
    one.run(3_000)
    assert one.hub.verbs().count("bind") == asked
    assert one.inbox.open == {}


def test_the_binding_of_an_object_that_went_while_nobody_looked_goes_too() -> None:
    one, _ = waiting()
    del one.hub.objects[JOB, "team-a", "train"]
    one.restart()
    one.run(5_000)
    assert [key for key in one.hub.objects if key[0] == BINDING] == []
