"""What admission would make of objects, told without a fleet. What only a fleet knows is not judged: the policies and
classes its hub has, the names of its clusters, what room there is. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairway.cli.entries import Entry, entry
from fairway.cli.manifests import JOB, POLICY, TEMPLATE, Document
from fairway.domain.quota.assignment import payers_of
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Profile, reserved, reserved_reason, tenancy
from fairway.gateway.http.answers import pod_sets
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.hub.objects import CLASS, SETTINGS, TREE
from fairway.workloads.job_warnings import job_warnings
from fairway.workloads.kinds.registry import read
from fairway.workloads.reading.parse import LARGEST_TEXT, with_name
from fairway.workloads.reading.preemptible import evict_notice_of, evictable_of
from fairway.workloads.settings.field_effects import unknown_fields, warnings
from fairway.workloads.settings.policies import select
from fairway.workloads.settings.policy_limits import too_large
from fairway.workloads.settings.policy_room import in_room_of
from fairway.workloads.settings.priority_classes import MOST_OF_USERS, read_priority_class
from fairway.workloads.settings.tenant_profiles import KIND as PROFILE

# Stands for the random end of a generateName, which the API server or the gateway will choose.
_SUFFIX = "xxxxx"
_UNUSED = "it goes nowhere: no job of these files names it; apply it on the hub with kubectl apply -f, for all that do"


def check(documents: Sequence[Document]) -> list[Entry]:
    """One entry for each document, in their order."""
    read = [(one, found) for one in documents if one.role not in (JOB, TEMPLATE) and (found := _tried(one)) is not None]
    trees = [found for one, found in read if one.kind == TREE]
    profiles = [found for one, found in read if one.kind == PROFILE]
    rules = _Rules([found for one, found in read if one.role == POLICY], trees[-1] if trees else None, profiles)
    return [_check(one, rules) for one in documents]


class _Rules(msgspec.Struct, frozen=True):
    """What the same files say of policies, quota and tenants."""

    policies: Sequence[Policy]
    tree: QuotaNode | None
    profiles: Sequence[Profile]


def _tried(document: Document) -> Any:
    try:
        return _read(document)
    except Refused:
        return None  # it gets an entry of its own, with the reasons


def _check(document: Document, rules: _Rules) -> Entry:
    if document.reasons or document.role == TEMPLATE:
        return entry(document, document.reasons, warnings=(_UNUSED,) if document.unused else ())
    try:
        if document.role == JOB:
            return _job(document, rules)
        _read(document)
    except Refused as error:
        return entry(document, error.reasons)
    return entry(document, warnings=warnings(document.manifest))


def _read(document: Document) -> Any:
    """What a policy or a setting says, as the doors of the fleet take it; raises Refused."""
    if document.role == POLICY and (reasons := too_large(document.manifest)):
        raise Refused(*reasons)
    if document.kind == CLASS:
        return read_priority_class(document.manifest, MOST_OF_USERS)
    read_one = SETTINGS[document.key](document.manifest)
    if unread := unknown_fields(document.manifest):
        raise Refused(*unread)
    return read_one


def _job(document: Document, rules: _Rules) -> Entry:
    manifest = with_name(document.manifest, _SUFFIX)
    size = len(msgspec.json.encode(manifest))
    if size > LARGEST_TEXT:
        text = f"the manifest has {size} bytes as JSON, more than {LARGEST_TEXT} (1 MiB)"
        raise Refused(Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image"))
    work = read(manifest)
    evictable = evictable_of(manifest)
    evict_notice_of(manifest)  # refused if it is none
    reasons: list[Reason] = [reserved_reason(work.namespace)] if reserved(work.namespace) else []
    policy = select(rules.policies, manifest) if rules.policies else None
    if isinstance(policy, Refused):
        reasons += policy.reasons
    elif policy is not None:
        work = in_room_of(policy.room, work, manifest)
    mine = tenancy(work.namespace, {}, rules.profiles)
    if rules.tree:
        _, never = payers_of(rules.tree, mine, manifest["metadata"].get("labels") or {}, work, evictable)
        reasons += [never] if never else []
    return entry(
        document,
        reasons,
        pod_sets=pod_sets(work),
        gang_minimum=work.gang_minimum,
        priority_class=work.priority_class,
        policy=policy.title if isinstance(policy, Policy) else "",
        warnings=job_warnings(msgspec.json.encode(manifest)),
    )


def policies_for(job: Document, policies: Sequence[Document]) -> list[dict[str, Any]]:
    """Those of `policies` that select the job: they travel with it. Broken ones do not travel."""
    manifest = with_name(job.manifest, _SUFFIX)
    read_ones = ((one.manifest, _tried(one)) for one in policies)
    return [own for own, policy in read_ones if policy and isinstance(select([policy], manifest), Policy)]
