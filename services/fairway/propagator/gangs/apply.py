"""A gang of pods in its member: all are made before any of them may get a node, and the leader owns the others.

The leader comes first, as its uid is the attempt's; then the others; then the gates of the others go, and the leader's
goes last. Each step done twice is the same step. Until the leader's gate is gone nothing has been dispatched: whoever
dies before is followed by one who begins anew, or by a recall, with which the garbage collector takes the others.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fairway.runtime.cluster_port import Applied, Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.workloads.companions.sent import owned_by
from fairway.workloads.gangs.pods import GANG_GATE

Json = dict[str, Any]
POD = "Pod.v1"
Apply = Callable[[Json], Awaitable[Applied]]


async def apply_gang(cluster: Cluster, pods: Sequence[Json], apply: Apply) -> Applied:
    """`pods` as they are to be in the member, the leader first; `apply` seals one and applies it."""
    leader, *others = pods
    done = await apply(gated(leader))
    if done.adopted and not await _waits(cluster, leader, done.uid):
        return done
    owner = owned_by(POD, leader["metadata"]["name"], done.uid)
    made = []
    for one in others:
        owned = {**one, "metadata": {**one["metadata"], "ownerReferences": [owner]}}
        made.append((await apply(gated(owned))).uid)
    for one, uid in zip(others, made, strict=True):
        if owner not in ((await _found(cluster, one, uid))["metadata"].get("ownerReferences") or ()):
            raise Unreachable(
                f"pod {one['metadata']['name']} in {cluster.name} is of a leader that is gone, and goes too"
            )
    for one, uid in (*zip(others, made, strict=True), (leader, done.uid)):
        await _let_go(cluster, one, uid)
    return done


def gated(pod: Json) -> Json:
    gates = [*(pod["spec"].get("schedulingGates") or ()), {"name": GANG_GATE}]
    return {**pod, "spec": {**pod["spec"], "schedulingGates": gates}}


async def _waits(cluster: Cluster, pod: Json, uid: str) -> bool:
    """Whether its gate is still there: else all of it was done before."""
    return GANG_GATE in _gates(await _found(cluster, pod, uid))


async def _let_go(cluster: Cluster, pod: Json, uid: str) -> None:
    found = await _found(cluster, pod, uid)
    gates = [{"name": one} for one in _gates(found) if one != GANG_GATE]
    if GANG_GATE not in _gates(found):
        return
    meta = found["metadata"]
    same = {"uid": uid, "resourceVersion": meta["resourceVersion"]}
    body = {"metadata": same, "spec": {"schedulingGates": gates or None}}
    try:
        if await cluster.patch(POD, meta["namespace"], meta["name"], body) is None:
            raise _gone(cluster, pod)
    except ClusterRefused as error:
        if error.code != "Conflict":
            raise
        raise Unreachable(f"pod {meta['name']} in {cluster.name} changed meanwhile; trying again") from error


async def _found(cluster: Cluster, pod: Json, uid: str) -> Json:
    meta = pod["metadata"]
    found = await cluster.get(POD, meta["namespace"], meta["name"])
    if found is None or found["metadata"].get("uid") != uid:
        raise _gone(cluster, pod)
    return found


def _gone(cluster: Cluster, pod: Json) -> Unreachable:
    return Unreachable(f"pod {pod['metadata']['name']} went away in {cluster.name} while its gang was being applied")


def _gates(pod: Json) -> list[str]:
    return [str(one.get("name")) for one in (pod.get("spec") or {}).get("schedulingGates") or ()]
