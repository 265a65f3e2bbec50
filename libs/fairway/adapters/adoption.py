"""Whether an object that is there already may be taken for the one that is to be applied."""

from hmac import compare_digest
from typing import Any

from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL, made_by_fairway
from fairway.workloads.seal import seal_of

Json = dict[str, Any]


def check_ours(where: str, found: Json, wanted: Json) -> None:
    """Only the same attempt of the same job may be taken for ours. `where` names the object in what is said."""
    there = found["metadata"].get("labels") or {}
    ours = wanted["metadata"].get("labels") or {}
    if not ours.get(JOB_LABEL) or there.get(JOB_LABEL) != ours[JOB_LABEL]:
        owner = f"job {there[JOB_LABEL]}" if there.get(JOB_LABEL) else "somebody else"
        raise ClusterRefused(Code.NAME_CONFLICT, f"{where} is there and belongs to {owner}; rename one of them")
    if there.get(ATTEMPT_LABEL) != ours.get(ATTEMPT_LABEL):
        text = f"{where} is there of attempt {there.get(ATTEMPT_LABEL)}; it has to be deleted first"
        raise ClusterRefused("StaleObject", text)
    # Labels are anybody's to write, and names can be guessed: what is taken for ours was made by us and says so with
    # the seal that it would get now. Needs no key, so that a member's own side can do it.
    seal = seal_of(wanted)
    if seal and not (made_by_fairway(found) and compare_digest(seal_of(found).encode(), seal.encode())):
        text = f"{where} is there, with the labels of this very attempt and without its seal: somebody else made it"
        raise ClusterRefused(Code.NO_SEAL, text)
    if found["metadata"].get("deletionTimestamp"):
        raise ClusterRefused("StaleObject", f"{where} is being deleted; apply again when it is gone")
