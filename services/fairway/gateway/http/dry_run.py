"""A dry run: what admission and the quota would say of a submission, with nothing submitted. Pure."""

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct

from fairway.domain.quota.tree import QuotaNode, ever_fits
from fairway.domain.resources import Resources, add
from fairway.domain.tenancy.entitlement import charged_leaf
from fairway.domain.tenancy.profile import Tenancy
from fairway.gateway.http.problem import ReasonBody
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason
from fairway.wire.workload import Workload


class PodSetAnswer(Struct, frozen=True):
    """`requests` are of one pod, in base units: millicores of cpu, bytes, pieces."""

    name: str
    count: int
    requests: dict[str, int]


class Preview(Struct, frozen=True):
    """What admission and the quota would say, with nothing submitted."""

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


def preview(mine: Tenancy, seen: DryRunSubmission, tree: QuotaNode | None) -> Preview:
    work = seen.spec.workload if seen.spec else None
    reasons = seen.reasons or (_quota(seen.spec, mine, tree) if seen.spec and tree else ())
    bodies = tuple(ReasonBody(one.code.value, one.field, one.text, one.remedy) for one in reasons)
    head = Preview(not reasons, seen.kind, seen.name, mine.namespace, reasons=bodies)
    if work is None or seen.spec is None:
        return head
    sets = tuple(PodSetAnswer(one.name, one.count, one.requests) for one in work.pod_sets)
    return msgspec.structs.replace(
        head,
        pod_sets=sets,
        gang_minimum=work.gang_minimum,
        priority_class=work.priority_class,
        priority=seen.spec.priority,
        policy=seen.spec.policy,
        queue=seen.spec.queue,
    )


def _quota(spec: wire.JobSpec, mine: Tenancy, tree: QuotaNode) -> tuple[Reason, ...]:
    path = charged_leaf(tree, mine, spec.labels)
    if isinstance(path, Reason):
        return (path,)
    reason = ever_fits(path, _total(spec.workload))
    return (reason,) if reason else ()


def _total(work: Workload) -> Resources:
    total: Resources = {}
    for pods in work.pod_sets:
        total = add(total, pods.requests, pods.count)
    return total
