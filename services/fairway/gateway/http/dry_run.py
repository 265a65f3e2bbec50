"""A dry run: what admission and the quota would say of a submission, with nothing submitted. Pure."""

from collections.abc import Callable, Container
from typing import Protocol

import msgspec
from msgspec import Struct

from fairway.domain.policy_terms import absent
from fairway.domain.quota.assignment import payers_of
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Tenancy
from fairway.explain.wording import listed
from fairway.gateway.http.answers import PodSetAnswer, ReasonBody, bodies, pod_sets
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason


class Preview(Struct, frozen=True):
    """What admission and the quota would say, with nothing submitted. `warnings` are of what would be accepted."""

    accepted: bool
    kind: str = ""
    name: str = ""
    namespace: str = ""
    pod_sets: tuple[PodSetAnswer, ...] = ()
    gang_minimum: int = 0
    priority_class: str = ""
    priority: int = 0
    policy: str = ""
    queue: str = ""
    reasons: tuple[ReasonBody, ...] = ()
    warnings: tuple[str, ...] = ()


class DryRunSubmission(Protocol):
    """What admission makes of a message; see services/fairway/admission/understand.py."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> wire.JobSpec | None: ...
    @property
    def reasons(self) -> tuple[Reason, ...]: ...


Understand = Callable[[wire.Submitted], DryRunSubmission]


def preview(
    mine: Tenancy,
    seen: DryRunSubmission,
    tree: QuotaNode | None,
    clusters: Container[str],
    told: tuple[str, ...] = (),
) -> Preview:
    """`clusters` are those of the fleet; `told` are the warnings of the manifest itself."""
    spec = seen.spec
    reasons = seen.reasons
    if spec and tree and not reasons:
        _, never = payers_of(tree, mine, spec.labels, spec.workload, spec.evictable)
        reasons = (never,) if never else ()
    head = Preview(not reasons, seen.kind, seen.name, mine.namespace, reasons=bodies(reasons))
    if spec is None:
        return head
    return msgspec.structs.replace(
        head,
        pod_sets=pod_sets(spec.workload),
        gang_minimum=spec.workload.gang_minimum,
        priority_class=spec.workload.priority_class,
        priority=spec.priority,
        policy=spec.policy,
        queue=spec.queue,
        warnings=(*_warnings(spec, clusters), *told),
    )


def _warnings(spec: wire.JobSpec, clusters: Container[str]) -> tuple[str, ...]:
    names = listed(absent(spec.placement, clusters))
    waits = f"{spec.policy} names {names}, not in the fleet: a job that no other cluster can take waits for that"
    return (waits,) if absent(spec.placement, clusters) else ()
