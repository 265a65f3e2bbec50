"""Whether an object that is there already may be taken for the one that is to be applied."""

from hmac import compare_digest
from typing import Any

from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import made_by_fairway
from fairway.workloads.seal import seal_of

Json = dict[str, Any]


def check_sealed(found: Json, wanted: Json, where: str) -> None:
    """Labels are anybody's to write, and names can be guessed: what is taken for ours was made by us and says so with
    the seal that it would get now. Needs no key, so that a member's own side can do it."""
    if seal_of(wanted) and not (made_by_fairway(found) and _same(seal_of(found), seal_of(wanted))):
        text = f"{where} is there, with the labels of this very attempt and without its seal: somebody else made it"
        raise ClusterRefused(Code.NO_SEAL, text)


def _same(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())
