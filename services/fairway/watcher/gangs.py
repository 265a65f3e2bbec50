"""What the pods of gangs show, told as the status of the gang's leader: the others speak for no job by themselves."""

from typing import Any

from msgspec import Struct, field, structs

from fairway.runtime.cluster_port import Change
from fairway.workloads import seal
from fairway.workloads.gangs.marks import gang_key
from fairway.workloads.gangs.pods import GANG
from fairway.workloads.kinds import gated_status

Json = dict[str, Any]
_POD = "Pod.v1"
_Attempt = tuple[str, int]


class _Gang(Struct):
    """`others` are the uid of the owner and the status of each, by name; `version` the newest of all of its pods."""

    leader: Change | None = None
    others: dict[str, tuple[str, Json]] = field(default_factory=dict)
    version: int = 0


class GangStatuses:
    """Of one cluster. `key` is the fleet's, with which pods are sealed: no other pod is of a gang."""

    def __init__(self, cluster: str, key: bytes) -> None:
        self._cluster = cluster
        self._key = key
        self._gangs: dict[_Attempt, _Gang] = {}

    def told(self, change: Change) -> Change | None:
        """The change as it concerns a job: of a pod beside the leader, that of the leader, if it is known."""
        if change.kind != _POD or not gang_key(change.manifest):
            return change
        spot = seal.Spot(self._cluster, change.kind, change.namespace, change.name)
        attempt = seal.attempt_of(self._key, spot, change.manifest)
        if attempt is None:
            return change
        gang = self._gangs.setdefault(attempt, _Gang())
        gang.version = max(gang.version, _version(change.manifest))
        if owner := _owner(change.manifest):
            self._see(gang, change, owner)
            found = gang.leader
        else:
            gang.leader = None if change.gone else change
            found = change
        if gang.leader is None and not gang.others:
            del self._gangs[attempt]
        return _with(found, gang) if found is not None and not found.gone else found

    def _see(self, gang: _Gang, change: Change, owner: str) -> None:
        if change.gone:
            gang.others.pop(change.name, None)
        else:
            gang.others[change.name] = (owner, gated_status.shows({}, change.manifest.get("status") or {}))


def _owner(pod: Json) -> str:
    """The uid of the pod that owns it."""
    owners = (pod.get("metadata") or {}).get("ownerReferences") or ()
    return next((str(one.get("uid")) for one in owners if one.get("kind") == "Pod"), "")


def _version(pod: Json) -> int:
    found = str((pod.get("metadata") or {}).get("resourceVersion") or "")
    return int(found) if found.isdecimal() else 0


def _with(leader: Change, gang: _Gang) -> Change:
    """Every change of any of them is a newer version of the status."""
    meta = leader.manifest["metadata"]
    others = {name: status for name, (owner, status) in sorted(gang.others.items()) if owner == meta.get("uid")}
    status = {**(leader.manifest.get("status") or {}), GANG: others}
    version = {"resourceVersion": str(gang.version)} if gang.version else {}
    return structs.replace(leader, manifest={**leader.manifest, "metadata": {**meta, **version}, "status": status})
