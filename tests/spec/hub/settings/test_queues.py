"""Queues of both groups on the hub: one of a name, and what is said of those of Volcano."""

from fairway.workloads.hub.objects import hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import QUEUE, VOLCANO_QUEUE, thing
from tests.spec.hub.settings.test_settings_said import ready, says


def test_one_name_is_one_queue_whatever_its_group() -> None:
    one = HubDriver()
    first = hub_object(QUEUE, thing(QUEUE, "gold", "kube-queue", spec={}))
    other = hub_object(VOLCANO_QUEUE, thing(VOLCANO_QUEUE, "gold", "", spec={"priority": 5}))
    one.apply(first)
    one.run(1_000)
    one.apply(other)
    one.run(1_000)
    assert (says(one), one.events(other)) == (["in force gold", "refused gold"], ["Refused"])
    one.delete(first)
    one.run(1_000)
    assert says(one)[2:] == ["withdrawn gold", "in force gold", "no longer refused gold"]
    one.apply(first)
    one.run(1_000)
    assert ready(one, first) == ("False", "AnotherInForce")


def test_a_queue_of_another_group_is_taken_from_the_admin_namespaces_alone() -> None:
    one = HubDriver()
    for namespace in ("team-a", ""):
        one.apply(hub_object(QUEUE, thing(QUEUE, "gold", namespace, spec={})))
        one.run(1_000)
    assert says(one) == ["refused gold", "refused gold"]


def test_a_queue_of_volcano_says_by_an_event_what_of_it_has_no_effect() -> None:
    """Once for each wish: its status has no conditions, and Volcano writes it all the time."""
    one = HubDriver()
    given = hub_object(VOLCANO_QUEUE, thing(VOLCANO_QUEUE, "gold", "", spec={"weight": 4}))
    one.apply(given)
    one.run(1_000)
    one.apply(hub_object(VOLCANO_QUEUE, {**given.manifest, "status": {"state": "Open", "running": 1}}))
    one.run(1_000)
    assert (one.events(given), one.hub.verbs()) == (["WithoutEffect"], ["event"])
    assert "spec.weight" in one.hub.notes[-1][2]
    one.apply(hub_object(VOLCANO_QUEUE, thing(VOLCANO_QUEUE, "gold", "", spec={"weight": 1})))
    one.run(1_000)
    one.apply(given)
    one.run(1_000)
    assert one.events(given) == ["WithoutEffect"], "it has been told of that"
