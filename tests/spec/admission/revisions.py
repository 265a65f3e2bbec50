"""Jobs of the hub, and other manifests of them."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairway.admission.decide import decide
from fairway.admission.view import ReadManifest
from fairway.domain.decision import Decision, Heard, Outcome
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.admission.test_allowed import QUEUE, queue
from tests.spec.admission.test_decide import NOW, after, manifest, policy, submitted, view
from tests.spec.builders.lives import T0, Life
from tests.spec.builders.views import events, told

GOLD = (QUEUE, "gold", queue("gold", "team-a"))
HUB = wire.HubRef("u-1", "jobs")
ADA = Actor("hub:team-a", "hub", "u-1")
WHY = Reason(Code.JOB_FAILED, "exit code 1")
Given = Callable[[], Life]


def body(**spec: Any) -> dict[str, Any]:
    """The submitted Job, with other fields in its spec."""
    found = manifest()
    return {**found, "spec": {**found["spec"], **spec}}


def with_pod(**more: Any) -> dict[str, Any]:
    found = body()
    template = found["spec"]["template"]
    return body(template={**template, "spec": {**template["spec"], **more}})


def with_meta(**more: Any) -> dict[str, Any]:
    found = body()
    return {**found, "metadata": {**found["metadata"], **more}}


def admitted() -> Life:
    """As admission has it of the hub's object: two pods of half a core."""
    heard = submitted(hub=HUB, client="hub:u-1", source="hub", who=ADA)
    (job,) = after(decide(view(heard), heard, NOW))["jobs"].values()
    return Life(job.id).then(wire.Admitted, attempt=1, spec=job.spec)


def queued() -> Life:
    return admitted().then(wire.Queue, queue="default", enqueued_at=T0)


def placed() -> Life:
    slots = (Slot("pod", "n1", 2),)
    return queued().then(wire.Dequeued, charge={"cpu": 1_000}).then(wire.Placed, cluster="c1", slots=slots)


def reserved() -> Life:
    return placed().then(wire.Reserved, cluster="c1", slots=placed().now.slots, expires_at=T0)


def running() -> Life:
    return reserved().then(wire.Dispatched, cluster="c1", uid="u-9").then(wire.Running, cluster="c1")


def smaller() -> Life:
    """It runs, and was made smaller before."""
    life = running()
    spec = life.now.spec
    assert spec is not None
    (pods,) = spec.workload.pod_sets
    work = msgspec.structs.replace(spec.workload, pod_sets=(msgspec.structs.replace(pods, count=1),), gang_minimum=1)
    return life.then(wire.Amended, cluster="c1", spec=msgspec.structs.replace(spec, workload=work))


def revise(life: Life, wanted: dict[str, Any], **more: Any) -> Heard:
    given: dict[str, Any] = {
        "job": life.name,
        "tenant": "team-a",
        "manifest": msgspec.Raw(msgspec.json.encode(wanted)),
        "policies": (msgspec.Raw(msgspec.json.encode(policy())),),
        "client": "hub:u-1",
        "source": "hub",
        "hub": HUB,
        "who": Actor("hub:team-a", "hub", "u-1"),
    }
    delivered = more.pop("delivered", 2)
    return told(wire.Revise(**{**given, **more}), id="r1", sequence=11, delivered=delivered)


def first_look(life: Life, wanted: dict[str, Any], settings: Catalog | None = None, **more: Any) -> Decision:
    heard = revise(life, wanted, **more)
    return decide(view(heard, settings, jobs={life.name: life.now}), heard, NOW)


def decided(life: Life, wanted: dict[str, Any], before: Any = None, **more: Any) -> Any:
    """The one thing that is said once the manifest of now is known, which is the submitted one."""
    heard = revise(life, wanted, **more)
    (asked,) = first_look(life, wanted, **more).calls
    done = Outcome(asked, True, body=ReadManifest(asked.body, body() if before is None else before))
    again = msgspec.structs.replace(heard, outcomes=(done,))
    (said,) = events(decide(view(again, jobs={life.name: life.now}), again, NOW))
    return said
