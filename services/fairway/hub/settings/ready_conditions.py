"""`status.conditions` Ready on the hub's settings: whether each is in force and, if not, why. Pure.

One patch when the condition changes, none when it does not. A kind whose definition has no status subresource is left
alone; so is a condition that somebody takes away by hand.
"""

from msgspec import Struct

from fairway.explain.wording import rfc3339
from fairway.workloads.hub.objects import CLASS, HubObject, Json
from fairway.workloads.settings import volcano_queues

READY = "Ready"
IN_FORCE = "InForce"
_WITHOUT = frozenset({CLASS, "Namespace"})
# As the API server has it for conditions of its own.
_MOST = 32_768


class SettingStanding(Struct, frozen=True):
    """What there is to say of an object; `reason` is a word, `text` a sentence."""

    ready: bool
    reason: str
    text: str


def condition_of(one: HubObject, standing: SettingStanding, now: int) -> Json | None:
    """The condition as it has to be written; None when the object says so already."""
    was = ready_of(one)
    said: Json = {
        "type": READY,
        "status": str(standing.ready),
        "reason": standing.reason,
        "message": standing.text[:_MOST],
    }
    generation = (one.manifest.get("metadata") or {}).get("generation")
    if generation is not None:
        said["observedGeneration"] = generation
    if all(was.get(name) == value for name, value in said.items()):
        return None
    since = was.get("lastTransitionTime") if was.get("status") == said["status"] else None
    return {**said, "lastTransitionTime": since or rfc3339(now)}


def ready_of(one: HubObject) -> Json:
    """The condition Ready as the object has it; empty when it has none."""
    return next((found for found in _conditions(one) if found.get("type") == READY), {})


def _conditions(one: HubObject) -> list[Json]:
    status = one.manifest.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def without_one(one: HubObject) -> bool:
    """Built in, and made without a status; a namespace is nobody's setting; Volcano's status has no conditions."""
    return one.plain in _WITHOUT or one.kind == volcano_queues.KIND


def conditions_with(one: HubObject, said: Json) -> list[Json]:
    """The object's conditions with this one in the place of its own."""
    return [*(each for each in _conditions(one) if each.get("type") != READY), said]
