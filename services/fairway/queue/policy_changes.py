"""A waiting job follows its policy: what that says now, if it is not what it was admitted with. Pure."""

from collections.abc import Mapping

import msgspec

from fairway.domain.policy_terms import amended, within
from fairway.wire.policy import Policy
from fairway.wire.spec import JobSpec
from fairway.workloads.settings.policy_index import selects

# The hub's policies by title.
Policies = Mapping[str, Policy]


def under(policies: Policies, spec: JobSpec, clusters: frozenset[str]) -> JobSpec | None:
    """A job's specification under its policy as that is now, within the `clusters` that its namespace may use (none
    named: all); None when there is no news. A policy that is gone, or does not select the job any more, leaves it what
    it had."""
    policy = policies.get(spec.policy)
    now = amended(spec, policy, clusters) if policy is not None else None
    if now is not None and policy is not None and _selects(policy, spec):
        return now
    return _bounded(spec, clusters)


def _bounded(spec: JobSpec, clusters: frozenset[str]) -> JobSpec | None:
    """Its namespace may use other clusters than when this was last asked."""
    if not clusters and spec.unbounded is None:
        return None
    now = within(spec.unbounded or spec.placement, clusters)
    return msgspec.structs.replace(spec, **now) if now["placement"] != spec.placement else None


def _selects(policy: Policy, spec: JobSpec) -> bool:
    work = spec.workload
    named = {"namespace": work.namespace, "name": work.name, "labels": spec.labels}
    head = {"apiVersion": work.api_version, "kind": work.kind, "metadata": named}
    return selects(policy, head)
