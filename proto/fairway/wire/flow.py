"""Who says what, where, and who hears it: the one table of the flow. Read it beside `jobs.py`.

`FLOW` has a row for each message, `CONSUMERS` one for each durable consumer. The services' consumers, the tables of
proto/README.md and proto/asyncapi.yaml come from here. Not here: the calls that a member in pull mode answers, which
are the Kubernetes API over the bus (adapters/remote/messages.py). Who takes part is in `subjects.py`.
"""

from msgspec import Struct

from fairway.wire import asks, fleet, inbound, jobs, subjects
from fairway.wire.envelope import JobMessage, Rebuild
from fairway.wire.preemption import evictions
from fairway.wire.subjects import (
    AGENT,
    GATEWAY,
    HUB,
    INBOUND,
    KEEPER,
    LOOPS,
    OPERATOR,
    STAGES,
    TENANT,
    FlowConsumer,
    FlowRow,
)


def _job(message: type[JobMessage], says: tuple[str, ...], meaning: str) -> FlowRow:
    return FlowRow(message.verb, message, f"fairway.job.{message.verb}.{{tenant}}", says, meaning)


def _cluster(message: type[fleet.FleetMessage], says: str, meaning: str) -> FlowRow:
    return FlowRow(message.verb, message, f"fairway.cluster.{message.verb}.{{cluster}}", (says,), meaning)


def _relief(message: type[JobMessage], says: str, meaning: str) -> FlowRow:
    return FlowRow(message.verb, message, subjects.relief(message.verb), (says,), meaning)


def _tenant(name: str, message: type[inbound.InboundMessage], meaning: str) -> FlowRow:
    return FlowRow(name, message, f"fairway.in.{{tenant}}.{message.verb}", (TENANT,), meaning)


_CONFIG = "fairway.config.{kind}.{namespace}.{name}"
_DOORS = (GATEWAY, INBOUND, HUB)
FLOW = (
    _job(
        jobs.Submitted,
        _DOORS,
        "a manifest arrived, with the policies that came along; `who` asked, as that door knows it",
    ),
    _job(jobs.Admitted, ("admission",), "kind understood, gang sized, the one policy found"),
    _job(jobs.Rejected, ("admission", "quota"), "an end: every reason with its field and what to do"),
    _job(
        jobs.Queue,
        ("quota", "queue", "global-scheduler", "reserver", "propagator", "watcher"),
        "wait your turn: attempt, first enqueue time; said by others than quota when a job comes back, with what sent "
        "it back and the proof (`found`)",
    ),
    _job(jobs.Blocked, ("queue",), "its quota has no room, with the numbers; said when the reason changes"),
    _job(
        jobs.Amended,
        ("queue", "propagator"),
        "what holds from now on: of a job that waits, under its policy as that is now or by another manifest; of one "
        "whose object was changed in its `cluster`, what that says now",
    ),
    _job(jobs.Dequeued, ("queue",), "its turn; its quota was charged in the commit that said so"),
    _job(
        jobs.Placed,
        ("global-scheduler",),
        "chosen cluster, slots node by node, what was found of every cluster with all scores (`found`)",
    ),
    _job(jobs.Reserved, ("reserver",), "room held on those nodes"),
    _job(
        jobs.Dispatched,
        ("propagator", "watcher"),
        "the object is applied in the member cluster, this is its uid, and these its companions; said once "
        "more when an object is found again whose uid was not kept",
    ),
    _job(jobs.Running, ("watcher",), "the gang is up, by the kind's own measure"),
    _job(jobs.Succeeded, ("watcher",), "an end"),
    _job(jobs.Failed, ("watcher",), "the attempt failed by its own doing; with `final` an end"),
    _job(
        jobs.Lost, ("queue", "propagator", "watcher"), "the attempt ended by no doing of its own; with `final` an end"
    ),
    _job(
        jobs.Claimed,
        ("queue",),
        "a waiting job is owed room that others have, and was patient: by its guaranteed share, or its priority; the "
        "quota that becomes free is kept for it",
    ),
    _job(
        jobs.Nominated,
        ("reserver",),
        "those nodes are kept for the job whose claim it is; it goes when the attempts on them have left",
    ),
    _job(jobs.Unclaimed, ("queue", "global-scheduler", "reserver"), "the claim is over without a place, and why"),
    _job(
        jobs.Evicted,
        ("reserver",),
        "the attempt was ended to make room for a claim; its job goes back with its first enqueue time, and no attempt "
        "is spent",
    ),
    _job(jobs.Recall, ("queue", "reserver", "propagator", "watcher"), "delete that attempt's object in that cluster"),
    _job(jobs.Removed, ("propagator",), "nothing of the attempt is left there, pods included"),
    _job(jobs.Cancel, _DOORS, "end the job wherever it is; `who` asked"),
    _job(jobs.Cancelled, ("queue",), "an end: nothing of it is left anywhere"),
    _job(jobs.Revise, (HUB,), "take over another manifest of a job that is there"),
    _job(jobs.Revised, ("admission",), "what admission understood of the new manifest of a job that waits"),
    _job(jobs.Adjust, ("admission",), "change the object of that attempt in place"),
    _job(
        jobs.Unchanged, ("admission", "queue", "propagator"), "the manifest with that digest is not taken over, and why"
    ),
    _job(jobs.HoldJob, (HUB,), "keep the job from running (`held`), or let it go again; `who` asked"),
    _job(jobs.Held, ("queue",), "the job is held, or is so no longer"),
    _job(
        jobs.ManifestsRemoved,
        (KEEPER,),
        "of a job that has ended long ago, what stays of the messages that brought its manifests; said before they are "
        "deleted, and changes nothing of the job",
    ),
    _job(Rebuild, LOOPS, "of no job: `owner` makes a new working set from the record; said where it begins and ends"),
    _relief(evictions.Relieve, "queue", "find out whom to evict for a claim: candidates, and what quota is short of"),
    _relief(
        evictions.Evict,
        "global-scheduler",
        "end these attempts for that claim, and keep these nodes for its job: the decision; nothing has happened yet",
    ),
    _cluster(fleet.Report, AGENT, "nodes, who uses them, kinds served; full or what changed"),
    _cluster(fleet.Freed, "reserver", "there is more room than before: in all, and on the best node"),
    _cluster(fleet.Stranded, AGENT, "pods of these attempts are on nodes that have been away for too long"),
    FlowRow(
        "shown",
        fleet.Shown,
        "fairway.status.shown.{tenant}",
        ("watcher",),
        "the status that the member's object of a hub's job has now",
    ),
    FlowRow(
        "configured",
        fleet.Configured,
        _CONFIG,
        (HUB, GATEWAY, AGENT),
        "a policy, PriorityClass, ElasticQuotaTree, Queue, TenantProfile or cluster (the agent says its own) as it is "
        "now, or what the labels of a namespace of the hub say of pods; `Member`: what the hub says of a cluster, from "
        "its Secret or the folder. Once it was said, it alone says whether the cluster is a member and what it is; "
        "what the cluster says of itself, coming or leaving, counts only where `Member` never was",
        follows=(GATEWAY, *LOOPS),
    ),
    FlowRow(
        "config_refused",
        fleet.ConfigRefused,
        _CONFIG,
        (HUB,),
        "such an object was refused, and why (the kind is `refused:<kind>`, and so stands in the subject as a hash)",
        follows=(HUB,),
    ),
    FlowRow(
        "dead_letter",
        fleet.DeadLetter,
        "fairway.dlq.{service}",
        (GATEWAY, *LOOPS),
        "for an operator (`fairway dlq`): a message that could not be handled, or not be published: why, where it came "
        "from, who asked, its id and bytes (or their beginning, size and digest)",
    ),
    FlowRow(
        "audited",
        fleet.Audited,
        "fairway.audit.{service}.{user}",
        (GATEWAY, OPERATOR),
        "for `fairway audit who`: what a user did at that door, or was refused",
    ),
    _tenant(
        "submit_request", inbound.SubmitRequest, "take this job, under the policies of its namespace that come along"
    ),
    _tenant("cancel_request", inbound.CancelRequest, "end this job of the tenant"),
    FlowRow("queue_ask", asks.QueueAsk, asks.QUEUE, (GATEWAY,), "where does this job stand?", ("queue",)),
    FlowRow("queue_place", asks.QueueAnswer, asks.QUEUE, ("queue",), "the answer: where it stands", (GATEWAY,)),
    FlowRow("resync", None, "fairway.ask.report.{cluster}", ("reserver",), "send a full report", (AGENT,)),
    FlowRow("found", None, "fairway.found.{service}", ("global-scheduler",), "what it found, in msgpack (`views.py`)"),
    FlowRow(
        "view",
        None,
        "fairway.view.{part}.{service}",
        (*STAGES, HUB),
        "for `fairway replay`: what it knew when it decided, in msgpack (`views.py`)",
    ),
)
CONSUMERS = (
    FlowConsumer(INBOUND, INBOUND, (inbound.SubmitRequest, inbound.CancelRequest)),
    FlowConsumer("admission", "admission", (jobs.Submitted, jobs.Revise)),
    FlowConsumer("quota", "quota", (jobs.Admitted,)),
    FlowConsumer(
        "queue",
        "queue",
        (
            *(jobs.Queue, jobs.Reserved, jobs.Succeeded, jobs.Failed, jobs.Lost, jobs.Cancelled, jobs.Removed),
            *(jobs.Cancel, jobs.HoldJob, jobs.Revised, jobs.Nominated, jobs.Unclaimed, jobs.Evicted),
        ),
    ),
    FlowConsumer("queue-freed", "queue", (fleet.Freed,)),
    FlowConsumer("global-scheduler", "global-scheduler", (jobs.Dequeued,)),
    FlowConsumer("global-scheduler-relief", "global-scheduler", (evictions.Relieve,)),
    FlowConsumer(
        "reserver",
        "reserver",
        (jobs.Placed, jobs.Succeeded, jobs.Failed, jobs.Lost, jobs.Cancelled, jobs.Removed, jobs.Unclaimed),
    ),
    FlowConsumer("reserver-reports", "reserver", (fleet.Report,)),
    FlowConsumer("reserver-relief", "reserver", (evictions.Evict,)),
    FlowConsumer("propagator", "propagator", (jobs.Reserved, jobs.Adjust)),
    # Dispatching does not wait for what is deleted.
    FlowConsumer("propagator-recall", "propagator", (jobs.Recall,)),
    FlowConsumer("watcher", "watcher", (jobs.Dispatched,)),
    FlowConsumer("watcher-nodes", "watcher", (fleet.Stranded,)),
    # These two only where there is a hub.
    FlowConsumer(
        HUB,
        HUB,
        (
            *(jobs.Rejected, jobs.Queue, jobs.Blocked, jobs.Placed, jobs.Dispatched, jobs.Running, jobs.Failed),
            *(jobs.Lost, jobs.Cancelled, jobs.Succeeded, jobs.Amended, jobs.Unchanged, jobs.Held),
            *(jobs.Evicted, jobs.Nominated, jobs.Unclaimed),
        ),
    ),
    FlowConsumer(f"{HUB}-status", HUB, (fleet.Shown,)),
)
_ROWS = {row.message: row for row in FLOW if row.message is not None}


def row_of(message: type[Struct]) -> FlowRow:
    return _ROWS[message]


def filters(*messages: type[Struct]) -> tuple[str, ...]:
    """The subjects that a reader of these messages filters on."""
    return tuple(_ROWS[message].filter for message in messages)


def consumer(name: str) -> tuple[str, str, tuple[str, ...]]:
    """Stream, name and subjects of a durable consumer of the table."""
    (found,) = (one for one in CONSUMERS if one.name == name)
    return _ROWS[found.hears[0]].stream, name, filters(*found.hears)


def hearers(row: FlowRow) -> tuple[FlowConsumer, ...]:
    return tuple(one for one in CONSUMERS if row.message in one.hears)
