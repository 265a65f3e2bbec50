"""One sentence for each message of a job's life, and beneath it the decision that it records."""

from collections.abc import Callable
from typing import Any

from fairway.domain import recorded_verdicts
from fairway.domain.job import Job
from fairway.domain.resources import describe
from fairway.explain import claims, wording
from fairway.placement.verdicts.recorded import words
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.policy import Placement
from fairway.wire.reasons import Reason
from fairway.wire.spec import Companion, RemovedManifest, Template
from fairway.workloads.job_warnings import job_warnings

Told = tuple[str, tuple[str, ...]]


def narrate(job: Job, message: wire.JobMessage) -> Told:
    """The sentence and its details. A message that this version does not know is named, not hidden."""
    tell = _TELLERS.get(type(message))
    if tell is None:
        return f"{message.verb or type(message).__name__}.", ()
    return tell(job, message)


def reason(why: Reason) -> str:
    """`spec.x: what is wrong [Code]; what to do`."""
    place = f"{why.field}: " if why.field else ""
    remedy = f"; {why.remedy}" if why.remedy else ""
    return f"{place}{why.text} [{why.code.value}]{remedy}"


def verdicts(job: Job, told: tuple[wire.Verdict, ...]) -> tuple[str, ...]:
    """`c1: needs 4 pods of 8 nvidia.com/gpu; node by node 2 fit, ... [Fragmented]` for each cluster."""
    asks = wording.gang(job.spec.workload) if job.spec else ""
    return tuple(f"{one.cluster}: {words(one, asks)} [{one.code.value}]" for one in told)


def _submitted(job: Job, message: wire.Submitted) -> Told:
    ways = {"hub": "through the hub", "http": "over HTTP", "cli": "with the command", "bus": "on the bus"}
    by = f"by {message.who}" if message.who else ways.get(message.source, f"by {message.source}")
    client = f" as {message.client}" if message.client else ""
    more = f", with {wording.many(len(message.policies), 'object')} beside it" if message.policies else ""
    size = f"a manifest of {len(bytes(message.manifest))} bytes"
    return f"Submitted {by}{client}: {size}{more}.", job_warnings(bytes(message.manifest))


def _admitted(job: Job, message: wire.Admitted) -> Told:
    spec = message.spec
    work = message.spec.workload
    gang = "all of them" if work.gang_minimum >= work.pods else f"at least {work.gang_minimum}"
    text = f"Admitted: {work.kind} {work.namespace}/{work.name}, {wording.many(work.pods, 'pod')}, {gang} together"
    return f"{text}; priority {spec.priority}.", _understood(spec)


def _understood(spec: wire.JobSpec) -> tuple[str, ...]:
    return (
        f"pod sets: {wording.pod_sets(spec.workload)}",
        f"policy: {spec.policy}; at most {wording.many(spec.attempts, 'attempt')}",
        *(f"written out with {_template(one)}" for one in (spec.hub.templates if spec.hub is not None else ())),
    )


def _template(one: Template) -> str:
    where = f"{one.namespace}/{one.name}" if one.namespace else one.name
    return f"{one.kind.partition('.')[0]} {where}, version {one.version} ({one.digest[:12]})"


def _rejected(job: Job, message: wire.Rejected) -> Told:
    return f"Rejected for {wording.many(len(message.reasons), 'reason')}.", tuple(map(reason, message.reasons))


def _queue(job: Job, message: wire.Queue) -> Told:
    leaf = f" (quota {message.leaf[-1]})" if message.leaf else ""
    if message.why is None:
        return f"Waits its turn in queue {message.queue}{leaf}.", ()
    why = message.why
    details = verdicts(job, recorded_verdicts.verdicts(message))
    if message.attempt > 1 and not details:
        return f"Waits in queue {message.queue} for attempt {message.attempt}: {reason(why)}.", ()
    return f"Back in queue {message.queue}: {reason(why)}.", details


def _amended(job: Job, message: wire.Amended) -> Told:
    spec = message.spec
    if message.cluster:
        return f"Changed in {message.cluster}, where it is.", (f"pod sets: {wording.pod_sets(spec.workload)}",)
    if message.queue:
        leaf = f" (quota {message.leaf[-1]})" if message.leaf else ""
        return f"Its new manifest counts from here on; it waits in queue {message.queue}{leaf}.", _understood(spec)
    version = f" (version {spec.policy_version})" if spec.policy_version else ""
    return f"{spec.policy}{version}, or what the namespace may use, changed; the job waits under what holds now.", (
        f"clusters: {_clusters(spec.placement)}",
        f"at most {wording.many(spec.attempts, 'attempt')}",
    )


def _clusters(placement: Placement) -> str:
    """`c1 and c2, then all but c3`: the tiers in their order."""
    tiers = []
    for one in placement.affinities:
        out = f" but {wording.listed(one.exclude)}" if one.exclude else ""
        labels = " by label" if one.labels else ""
        tiers.append(f"{wording.listed(one.cluster_names) if one.cluster_names else 'all'}{labels}{out}")
    return ", then ".join(tiers)


def _dequeued(job: Job, message: wire.Dequeued) -> Told:
    charge = {name: amount for name, amount in message.charge.items() if amount}
    if not message.path or not charge:
        return "Its turn.", ()
    return f"Its turn: {describe(charge)} charged to quota {message.path[-1]}.", (
        (f"charged on every level: {' > '.join(message.path)}",) if len(message.path) > 1 else ()
    )


def _placed(job: Job, message: wire.Placed) -> Told:
    pods = sum(slot.count for slot in message.slots)
    where = f"{wording.many(pods, 'pod')} on {wording.many(wording.node_count(message.slots), 'node')}"
    scores = recorded_verdicts.scores(message)
    total = scores.get(message.cluster, {}).get("total")
    score = "" if total is None else f", score {total}"
    affinity = f" (affinity {message.affinity})" if message.affinity else ""
    ranked = sorted(scores.items(), key=lambda item: (-item[1].get("total", 0), item[0] != message.cluster))
    others = tuple(one for one in recorded_verdicts.verdicts(message) if one.cluster != message.cluster)
    return f"Placed in {message.cluster}{affinity}: {where}{score}.", (
        f"nodes: {wording.nodes(message.slots)}",
        *(f"score of {name}: {_scored(parts)}" for name, parts in ranked),
        *verdicts(job, others),
    )


def _scored(parts: dict[str, int]) -> str:
    """`812 (tightness 40, spread_load 12)`: the total is their weighted sum."""
    each = ", ".join(f"{name} {value}" for name, value in parts.items() if name != "total")
    return f"{parts.get('total', 0)} ({each})" if each else str(parts.get("total", 0))


def _reserved(job: Job, message: wire.Reserved) -> Told:
    count = wording.many(wording.node_count(message.slots), "node")
    there = f"; {message.hold} hold it in the member before the job is applied" if message.hold else ""
    return f"Room held on {count} of {message.cluster} until {wording.clock(message.expires_at)}{there}.", ()


def _dispatched(job: Job, message: wire.Dispatched) -> Told:
    uid = f" (uid {message.uid})" if message.uid else ""
    details = tuple(map(_along, message.companions))
    if message.adopted:
        return f"Found in {message.cluster}, applied by an earlier try of ours{uid}; kept.", details
    return f"Applied in {message.cluster}{uid}.", details


def _along(one: Companion) -> str:
    """`with Secret db: version 813 on the hub, digest 0c0c0c0c0c0c`."""
    if one.why:
        return f"not with {one.kind} {one.name}: {one.why}"
    return f"with {one.kind} {one.name}: version {one.version} on the hub, digest {one.digest[:12]}"


def _went(job: Job, message: wire.Running | wire.Succeeded) -> Told:
    return f"{message.verb.capitalize()} in {message.cluster}{_said(message.text)}", ()


def _said(text: str) -> str:
    """What the cluster says, as the end of a sentence; it may have brought its own full stop."""
    return f": {text.rstrip('.')}." if text else "."


def _over(job: Job, message: wire.Failed | wire.Lost) -> Told:
    innocent = ", by no doing of its own" if isinstance(message, wire.Lost) else ""
    end = " The job ends here." if message.final else ""
    return f"{message.verb.capitalize()} in {message.cluster}{innocent}: {reason(message.why)}.{end}", ()


def _revise(job: Job, message: wire.Revise) -> Told:
    size = f"a manifest of {len(bytes(message.manifest))} bytes"
    return f"Another manifest came{_by(message.who)}: {size}.", job_warnings(bytes(message.manifest))


def _manifests_removed(job: Job, message: wire.ManifestsRemoved) -> Told:
    many = len(message.removed)
    what = "The manifest of this job was" if many == 1 else f"{many} manifests of this job were"
    when = f"{wording.moment(message.at)}, {wording.span(message.kept)} or more after its end (FAIRWAY_MANIFESTS_KEPT)"
    return f"{what} removed from the record on {when}.", tuple(map(_removed, message.removed))


def _removed(one: RemovedManifest) -> str:
    client = f" as {one.client}" if one.client else ""
    return f"{one.said}{_by(one.who)}{client} on {wording.moment(one.at)}: {one.size} bytes, its sha256 is {one.sha256}"


def _adjust(job: Job, message: wire.Adjust) -> Told:
    return f"To be changed in {message.cluster}.", (f"pod sets: {wording.pod_sets(message.spec.workload)}",)


def _hold(job: Job, message: wire.HoldJob) -> Told:
    return f"Asked{_by(message.who)} to {'hold the job' if message.held else 'let the job go again'}.", ()


def _by(who: Actor | None) -> str:
    return f" by {who}" if who else ""


def _recall(job: Job, message: wire.Recall) -> Told:
    when = f" at {wording.clock(message.delete_at)}" if message.delete_at else ""
    details = (f"its pods have {wording.span(message.grace)} from then at most",) if message.grace else ()
    return f"To be removed from {message.cluster}{when}: {reason(message.why)}.", details


_TELLERS: dict[type[wire.JobMessage], Callable[[Job, Any], Told]] = {
    wire.Submitted: _submitted,
    wire.Admitted: _admitted,
    wire.Rejected: _rejected,
    wire.Queue: _queue,
    wire.Blocked: lambda job, message: (f"Waits: {reason(message.why)}.", ()),
    wire.Amended: _amended,
    wire.Dequeued: _dequeued,
    wire.Placed: _placed,
    wire.Reserved: _reserved,
    wire.Dispatched: _dispatched,
    wire.Running: _went,
    wire.Succeeded: _went,
    wire.Failed: _over,
    wire.Lost: _over,
    wire.Evicted: claims.told_evicted,
    wire.Claimed: claims.told_claimed,
    wire.Nominated: claims.told_nominated,
    wire.Unclaimed: claims.told_unclaimed,
    wire.Recall: _recall,
    wire.Removed: lambda job, message: (f"Gone from {message.cluster}, pods included.", ()),
    wire.Revise: _revise,
    wire.Revised: lambda job, message: ("The new manifest is understood.", _understood(message.spec)),
    wire.Adjust: _adjust,
    wire.Unchanged: lambda job, message: (f"The new manifest is not taken over: {reason(message.why)}.", ()),
    wire.HoldJob: _hold,
    wire.ManifestsRemoved: _manifests_removed,
    wire.Held: lambda job, message: ("Held by its owner." if message.held else "Held no longer.", ()),
    wire.Cancel: lambda job, message: (f"Cancellation asked for{_by(message.who)}.", ()),
    wire.Cancelled: lambda job, message: (f"Cancelled{_by(message.who)}; nothing of it is left in any cluster.", ()),
}
