"""Pods of gangs as objects of the hub, and a hub that has some."""

from typing import Any

from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.gangs_of_pods import KOORDINATOR, KUEUE, Json, pod
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.hub_objects import policy

MOMENT = 300
FLEET = {"name": "fairway.io/fleet"}
ALL = policy("all", {"apiVersion": "v1", "kind": "Pod"})


def podlet(name: str, marks: Json = KUEUE, **spec: Any) -> HubObject:
    one = pod(name, marks, **{"schedulingGates": [FLEET], **spec})
    return hub_object("Pod.v1", {**one, "metadata": {**one["metadata"], "uid": f"u-{name}"}})


A, B, C = (podlet(name) for name in "abc")


def whole(marks: Json = KUEUE) -> HubDriver:
    """The gang is there, and its job was said."""
    one = HubDriver()
    one.apply(ALL, *(podlet(name, marks) for name in "abc"))
    one.run(2 * MOMENT)
    return one


def waiting() -> tuple[HubDriver, Life]:
    """Its job waits in a queue."""
    one = whole()
    life = one.admit(A)
    one.says(life, wire.Queue, queue="gold")
    one.run(3_000)
    return one, life


def up() -> tuple[HubDriver, Life]:
    """Its pods run in a member."""
    one, life = waiting()
    one.says(life, wire.Dequeued, path=(), charge={})
    one.says(life, wire.Placed, cluster="c1", slots=())
    one.says(life, wire.Reserved, cluster="c1", slots=(), expires_at=one.now + 60_000)
    one.says(life, wire.Dispatched, cluster="c1", uid="u-9")
    one.says(life, wire.Running, cluster="c1")
    one.run(3_000)
    return one, life


def conditions(one: HubDriver, of: HubObject) -> str:
    """Of a pod that waits: why."""
    (found,) = one.status(of)["conditions"]
    assert (found["type"], found["status"], found["reason"]) == ("PodScheduled", "False", "SchedulingGated")
    return str(found["message"])


KINDS_OF_MARKS = {"Kueue": KUEUE, "Koordinator": KOORDINATOR}
