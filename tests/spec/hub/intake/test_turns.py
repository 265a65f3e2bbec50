"""In which order objects of the hub are submitted."""

from fairway.hub.intake.turns import in_turn
from tests.spec.hub.hub_objects import job


def test_tenants_take_turns() -> None:
    names = ("a", "0"), ("a", "1"), ("a", "2"), ("b", "x"), ("c", "y")
    objects = [job(name, namespace=tenant) for tenant, name in names]
    assert [f"{one.namespace}{one.name}" for one in in_turn(objects)] == ["a0", "bx", "cy", "a1", "a2"]
