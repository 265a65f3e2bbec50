"""Companions on the hub: read there when a job starts, and not before, so that what counts is what they are then. Their
bytes are in no message and no store; whose job it is has to have the right to read them himself."""

import asyncio
from collections.abc import Iterator
from typing import Any

import structlog

from fairway.propagator.calls import Copy
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Refused
from fairway.wire.spec import Companion
from fairway.workloads.companions.named import (
    ACCOUNT,
    CLAIM,
    CONFIG_MAP,
    SECRET,
    Named,
    goes,
    in_order,
    left_to_the_member,
    named,
    pull_secrets,
)
from fairway.workloads.companions.sent import never
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
Found = dict[Named, Json]
log = structlog.get_logger()
_REVIEW = "SubjectAccessReview.authorization.k8s.io/v1"
_PLURALS = {
    ACCOUNT: "serviceaccounts",
    SECRET: "secrets",
    CONFIG_MAP: "configmaps",
    CLAIM: "persistentvolumeclaims",
}


async def read(hub: Cluster, copy: Copy, manifest: Json) -> Found:
    """Those that are there in the job's namespace. Raises ClusterRefused for what may not go along, and Unreachable."""
    kind = KINDS[copy.kind]
    try:
        of_pods = () if copy.alone else named(manifest, kind)
    except Refused as error:
        raise ClusterRefused(Code.COMPANION_REFUSED, str(error)) from None
    wanted = in_order((*of_pods, *(one for one in _of_policy(copy) if goes(one, kind))))
    found = await _found(hub, copy, wanted)
    pulls = {one for account in found if account.kind == ACCOUNT for one in pull_secrets(found[account])}
    return found | await _found(hub, copy, tuple(sorted(pulls - set(wanted))))


def left_out(copy: Copy) -> tuple[Companion, ...]:
    """Those that its policy names and that do not go along with a job of its kind."""
    plain = copy.kind.partition(".")[0]
    why = f"pods of a {plain} need the rights of their account: make it in the member, with its RoleBinding"
    named_ones = (one for one in _of_policy(copy) if left_to_the_member(one, KINDS[copy.kind]))
    return tuple(Companion(one.kind.partition(".")[0], one.name, why=why) for one in named_ones)


def _of_policy(copy: Copy) -> Iterator[Named]:
    return (Named(f"{one.kind}.v1", one.name) for one in copy.policy_companions)


async def _found(hub: Cluster, copy: Copy, wanted: tuple[Named, ...]) -> Found:
    objects = await asyncio.gather(*(_read(hub, copy, one) for one in wanted))
    return {one: found for one, found in zip(wanted, objects, strict=True) if found is not None}


async def _read(hub: Cluster, copy: Copy, one: Named) -> Json | None:
    """Whether the owner may is asked first: what he may not read, nobody reads for him."""
    try:
        if known(copy.who) and not await _may(hub, copy, one):
            raise ClusterRefused(Code.COMPANION_REFUSED, _no_right(copy, one))
        found = await hub.get(one.kind, copy.namespace, one.name)
    except ClusterRefused as error:
        if error.code != "Forbidden":
            raise
        what = {"namespace": copy.namespace, "kind": one.kind, "name": one.name}
        log.warning("companion not read", remedy="apply deploy/hub/rights.yaml to the hub", **what)
        return None
    if found is not None and (why := never(found, one)):
        raise ClusterRefused(why.code, why.text)
    return found


def known(who: Actor | None) -> bool:
    """Whether the hub knows whose job it is. Else it came from its namespace: on the hub a watch does not tell who
    applied it, and on the bus a tenant is a namespace. Whom the hub has authenticated has groups; who came over HTTP
    with a key of the gateway's own has none, and may do everything."""
    return who is not None and who.via == "http" and bool(who.groups)


def _no_right(copy: Copy, one: Named) -> str:
    user = copy.who.user if copy.who else ""
    whose = "its policy" if one in set(_of_policy(copy)) else "the job"
    return f"{user} may not get {one} of namespace {copy.namespace} on the hub, which {whose} names"


async def _may(hub: Cluster, copy: Copy, one: Named) -> bool:
    assert copy.who is not None, "asked of whom the hub knows"
    attributes = {"verb": "get", "group": "", "resource": _PLURALS[one.kind], "name": one.name}
    attributes["namespace"] = copy.namespace
    spec = {"user": copy.who.user, "groups": list(copy.who.groups), "resourceAttributes": attributes}
    kind, _, version = _REVIEW.partition(".")
    answer = await hub.review(_REVIEW, {"apiVersion": version, "kind": kind, "spec": spec})
    status = answer.get("status") or {}
    return status.get("allowed") is True and not status.get("denied")
