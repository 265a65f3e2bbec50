"""What admission would make of objects, told without a fleet. What only a fleet knows is not judged: the policies and
classes its hub has, the names of its clusters, what room there is. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from fairway.cli.entries import Entry, PodSetEntry, entry
from fairway.cli.manifests import JOB, POLICY, SETTING, Document
from fairway.domain.quota.tree import QuotaNode, ever_fits
from fairway.domain.resources import Resources, add
from fairway.domain.tenancy.entitlement import charged_leaf
from fairway.domain.tenancy.profile import Profile, Tenancy, reserved, reserved_reason, tenancy
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Workload
from fairway.workloads.kinds.registry import read
from fairway.workloads.reading.parse import LARGEST_TEXT, with_name
from fairway.workloads.settings.policies import read_policy, select
from fairway.workloads.settings.policy_limits import too_large
from fairway.workloads.settings.priority_classes import MOST_OF_USERS, read_priority_class
from fairway.workloads.settings.queues import KIND as QUEUE
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import KIND as TREE
from fairway.workloads.settings.quota_trees import read_quota_tree
from fairway.workloads.settings.tenant_profiles import KIND as PROFILE
from fairway.workloads.settings.tenant_profiles import read_tenant_profile

# Stands for the random end of a generateName, which the API server or the gateway will choose.
_SUFFIX = "xxxxx"


def check(documents: Sequence[Document]) -> list[Entry]:
    """One entry for each document, in their order."""
    policies = [policy for one in documents if one.role == POLICY and (policy := _tried(_read_policy, one))]
    drawn = [one for one in documents if one.kind == TREE and one.role == SETTING]
    trees = [tree for one in drawn if (tree := _tried(read_quota_tree, one))]
    given = [one for one in documents if one.kind == PROFILE and one.role == SETTING]
    profiles = [profile for one in given if (profile := _tried(read_tenant_profile, one))]
    rules = _Rules(policies, trees[-1] if trees else None, profiles)
    return [_check(one, rules) for one in documents]


class _Rules(msgspec.Struct, frozen=True):
    """What the same files say of policies, quota and tenants."""

    policies: Sequence[Policy]
    tree: QuotaNode | None
    profiles: Sequence[Profile]


def _tried(reader: Callable[[dict[str, Any]], Any], document: Document) -> Any:
    try:
        return reader(document.manifest)
    except Refused:
        return None  # it gets an entry of its own, with the reasons


def _check(document: Document, rules: _Rules) -> Entry:
    if document.reasons:
        return entry(document, document.reasons)
    try:
        if document.role == JOB:
            return _job(document, rules)
        _setting(document)
    except Refused as error:
        return entry(document, error.reasons)
    return entry(document)


def _read_policy(manifest: dict[str, Any]) -> Policy:
    """As the doors of the fleet take it; raises Refused."""
    if reasons := too_large(manifest):
        raise Refused(*reasons)
    return read_policy(manifest)


def _setting(document: Document) -> None:
    """Reads a policy or a setting; raises Refused."""
    if document.role == POLICY:
        _read_policy(document.manifest)
    elif document.kind == TREE:
        read_quota_tree(document.manifest)
    elif document.kind == QUEUE:
        read_queue(document.manifest)
    elif document.kind == PROFILE:
        read_tenant_profile(document.manifest)
    else:
        read_priority_class(document.manifest, MOST_OF_USERS)


def _job(document: Document, rules: _Rules) -> Entry:
    manifest = with_name(document.manifest, _SUFFIX)
    size = len(msgspec.json.encode(manifest))
    if size > LARGEST_TEXT:
        text = f"the manifest has {size} bytes as JSON, more than {LARGEST_TEXT} (1 MiB)"
        raise Refused(Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image"))
    work = read(manifest)
    reasons: list[Reason] = [reserved_reason(work.namespace)] if reserved(work.namespace) else []
    policy = select(rules.policies, manifest) if rules.policies else None
    if isinstance(policy, Refused):
        reasons += policy.reasons
    mine = tenancy(work.namespace, {}, rules.profiles)
    reasons += _quota(document, work, mine, rules.tree) if rules.tree else ()
    sets = tuple(PodSetEntry(one.name, one.count, one.requests) for one in work.pod_sets)
    return entry(
        document,
        reasons,
        pod_sets=sets,
        gang_minimum=work.gang_minimum,
        priority_class=work.priority_class,
        policy=policy.title if isinstance(policy, Policy) else "",
    )


def _quota(document: Document, work: Workload, mine: Tenancy, tree: QuotaNode) -> list[Reason]:
    path = charged_leaf(tree, mine, document.manifest["metadata"].get("labels") or {})
    if isinstance(path, Reason):
        return [path]
    total: Resources = {}
    for pods in work.pod_sets:
        total = add(total, pods.requests, pods.count)
    never = ever_fits(path, total)
    return [never] if never else []


def policies_for(job: Document, policies: Sequence[Document]) -> list[dict[str, Any]]:
    """Those of `policies` that select the job: they travel with it. Broken ones do not travel."""
    manifest = with_name(job.manifest, _SUFFIX)
    read_ones = ((one.manifest, _tried(_read_policy, one)) for one in policies)
    return [own for own, policy in read_ones if policy and isinstance(select([policy], manifest), Policy)]
