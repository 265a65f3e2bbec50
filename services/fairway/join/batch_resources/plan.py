"""What is to be done in a member about its PriorityClass and its ClusterColocationProfile for batch resources, seeing
what is there. Pure.

What a join made it makes anew, as all that it applies. What somebody else made under these names is kept if it says
what is needed, and otherwise in the way: nothing of others is changed.
"""

from typing import Any

from msgspec import Struct

from fairway.client.failure import DENIED, NOT_FOUND, Failure
from fairway.domain.batch_resources import PROFILE
from fairway.join.batch_resources import objects

Json = dict[str, Any]

_OWN = "delete it so that the join makes its own"


class BatchObjects(Struct, frozen=True):
    """What is there of these names; None where nothing is. `served`: the member has the kind of the profile."""

    served: bool
    priority_class: Json | None = None
    profile: Json | None = None


class BatchPlan(Struct, frozen=True):
    """First `removed`, then `applied`, both in their order. `class_name` is what the profile names then; empty where
    there is no profile."""

    class_name: str = ""
    removed: tuple[Json, ...] = ()
    applied: tuple[Json, ...] = ()
    kept: tuple[str, ...] = ()


def plan(cluster: str, chosen: str, seen: BatchObjects) -> BatchPlan:
    """`chosen` is the class to name; empty for the join's own. Failure says what is in the way."""
    if not seen.served:
        return BatchPlan()
    name = chosen or objects.NAME
    first = _class(cluster, name, seen.priority_class)
    second = _profile(cluster, name, seen.profile)
    # Koordinator refuses the pods of a profile whose class is not there.
    removed = (*second.removed, *first.removed)
    return BatchPlan(name, removed, (*first.applied, *second.applied), (*first.kept, *second.kept))


def _class(cluster: str, name: str, found: Json | None) -> BatchPlan:
    wanted = objects.priority_class()
    if name == objects.NAME and (found is None or objects.is_ours(found)):
        gone = (found,) if found is not None and objects.anew(found, wanted) else ()
        return BatchPlan(removed=gone, applied=(wanted,))
    other = f"name another with --batch-priority-class, {objects.NAME} for the one that the join makes"
    if found is None:
        raise Failure(NOT_FOUND, f"PriorityClass {name} is not in {cluster}", f"make it, or {other}")
    if fault := objects.class_fault(found):
        remedy = f"{_OWN}, or name another with --batch-priority-class" if name == objects.NAME else other
        raise Failure(DENIED, f"PriorityClass {name} of {cluster} is not for batch resources: {fault}", remedy)
    return BatchPlan(kept=(f"PriorityClass {name}",))


def _profile(cluster: str, class_name: str, found: Json | None) -> BatchPlan:
    wanted = objects.profile(class_name)
    if found is None:
        return BatchPlan(applied=(wanted,))
    if objects.is_ours(found):
        # What others added to it stays when it is applied; what does harm goes with the whole.
        after = {**found, "spec": {**(found.get("spec") or {}), **wanted["spec"]}}
        return BatchPlan(removed=(found,) if objects.profile_fault(after, class_name) else (), applied=(wanted,))
    if fault := objects.profile_fault(found, class_name):
        text = f"ClusterColocationProfile {PROFILE} of {cluster} is not what jobs on batch resources need: {fault}"
        raise Failure(DENIED, text, f"mend it, or {_OWN}")
    return BatchPlan(kept=(f"ClusterColocationProfile {PROFILE}",))
