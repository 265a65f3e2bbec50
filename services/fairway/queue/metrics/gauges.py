"""What an operator watches of the queues: who waits and why, since when, and the quota. Pure."""

from collections.abc import Iterator, Mapping

from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import unit
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import SettingsNames

QUEUED = "queued"


def of_waiting(queued: WaitingJobs, names: SettingsNames, now: int) -> Iterator[Sample]:
    """Queues of the settings, with 0 where nobody waits; all others together."""
    counts: dict[str, int] = dict.fromkeys(sorted(names.queues), 0)
    oldest: dict[str, int] = {}
    reasons: dict[tuple[str, str], int] = {}
    for name, line in queued.lines.items():
        label = names.queue(name)
        counts[label] = counts.get(label, 0) + len(line.places)
        for reason, count in line.reasons.items():
            key = (label, reason.value)
            reasons[key] = reasons.get(key, 0) + count
        since = line.oldest(lambda job: not queued.entries[job].job.held)
        if since is not None:
            oldest[label] = min(since, oldest.get(label, since))
    for label, count in counts.items():
        yield "fairway_jobs", (label, QUEUED), count
        age = max(0, now - oldest[label]) / 1000 if label in oldest else 0
        yield "fairway_oldest_pending_seconds", (label,), age
    for labels, count in reasons.items():
        yield "fairway_pending_jobs", labels, count


def of_quota(tree: QuotaNode | None, usage: Mapping[str, int]) -> Iterator[Sample]:
    """Every node of the tree as it is now, of the resources that it bounds, and its jobs."""
    nodes = [tree] if tree is not None else []
    while nodes:
        node = nodes.pop()
        nodes += node.children
        for resource in sorted({*node.min, *node.max, MAX_JOBS}):
            yield _amount("used", node, resource, usage.get(quota_key(node.path, resource), 0))
            if resource in node.min:
                yield _amount("min", node, resource, node.min[resource])
            if resource in node.max:
                yield _amount("max", node, resource, node.max[resource])


def _amount(what: str, node: QuotaNode, resource: str, amount: int) -> Sample:
    name, size = unit(resource)
    return f"fairway_quota_{what}", (node.path, resource, name), amount / size


def of_claims(active: ActiveJobs) -> Iterator[Sample]:
    yield "fairway_claims_open", (), len(active.claims)
    yield "fairway_evictions_most", (), max(active.evictions.values(), default=0)
