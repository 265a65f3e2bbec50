"""admission: the queue in a field of a Volcano Job counts where no annotation names one, if the fleet has it."""

from typing import Any

import pytest

from fairway.wire.reasons import Code
from fairway.workloads.crds.queue import KIND as QUEUE
from tests.spec.admission.test_allowed import TREES, Json, decided, granted, queue, volcano
from tests.spec.workloads.settings.cases import volcano_queue

ALLOW = "fairway.io/allow-namespaces"
Settings = tuple[tuple[str, str, Json], ...]


def of_volcano(name: str, allows: str = "", **spec: Any) -> tuple[str, str, Json]:
    return QUEUE, name, volcano_queue(spec, name=name, annotations={ALLOW: allows} if allows else {})


def annotated(body: Json, name: str) -> Json:
    return {**body, "metadata": {**body["metadata"], "annotations": {"kube-queue/queue-name": name}}}


GOLD = of_volcano("gold", "team-b, team-a")
WAITS_IN: dict[str, tuple[Json, Settings, str]] = {
    "the queue of Volcano that it names": (volcano("gold"), (GOLD,), "gold"),
    "the queue of kube-queue that it names": (volcano("gold"), ((QUEUE, "gold", queue("gold", "team-a")),), "gold"),
    "the queue of its namespace's name, which lists nobody": (volcano("team-a"), (of_volcano("team-a"),), "team-a"),
    "a queue that its profile lists": (volcano("vip"), (of_volcano("vip"), granted(queues=["vip"])), "vip"),
    "a queue of its leaf's name": (volcano("mine"), (TREES, of_volcano("mine")), "mine"),
    "what its annotation says otherwise": (
        annotated(volcano("gold"), "fill"),
        (GOLD, of_volcano("fill", "team-a")),
        "fill",
    ),
    "its leaf's, as Volcano writes default into every Job": (
        volcano("default"),
        (of_volcano("default", priority=9),),
        "",
    ),
    "its leaf's, as the fleet has no queue of its namespace's name": (volcano("team-a"), (GOLD,), ""),
    "its leaf's, as the fleet has no queue that its profile lists": (volcano("vip"), (granted(queues=["vip"]),), ""),
}


@pytest.mark.parametrize(("body", "hub", "want"), WAITS_IN.values(), ids=list(WAITS_IN))
def test_a_job_waits_in(body: Json, hub: Settings, want: str) -> None:
    said = decided(body, *hub)
    assert (said.verb, said.spec.queue) == ("admitted", want)


NOT_ITS: dict[str, tuple[Json, Settings, str]] = {
    "a queue that lists others": (volcano("gold"), (of_volcano("gold", "team-b"),), "spec.queue"),
    "a queue that lists nobody": (volcano("gold"), (of_volcano("gold"),), "spec.queue"),
    "a queue that has its namespace's name and lists others": (
        volcano("team-a"),
        (of_volcano("team-a", "team-b"),),
        "spec.queue",
    ),
    "a queue of kube-queue that has its namespace's name and lists nobody": (
        volcano("team-a"),
        ((QUEUE, "team-a", queue("team-a")),),
        "spec.queue",
    ),
    "a queue that nobody has": (volcano("gold"), (), "spec.queue"),
    "a queue of others in its field, beside its own in the annotation": (
        annotated(volcano("vip"), "gold"),
        (GOLD,),
        "spec.queue",
    ),
    "a queue of Volcano by annotation, which lists others": (
        annotated(volcano("default"), "gold"),
        (of_volcano("gold", "team-b"),),
        "kube-queue/queue-name",
    ),
}


@pytest.mark.parametrize(("body", "hub", "field"), NOT_ITS.values(), ids=list(NOT_ITS))
def test_a_job_may_not_name(body: Json, hub: Settings, field: str) -> None:
    said = decided(body, *hub)
    (reason,) = said.reasons
    assert (said.verb, reason.code, field in reason.field) == ("rejected", Code.NOT_YOUR_QUOTA, True)


def test_a_queue_that_is_withdrawn_is_no_queue_any_more() -> None:
    gone: Any = (QUEUE, "team-a", None)
    assert decided(volcano("team-a"), of_volcano("team-a"), gone).spec.queue == ""
