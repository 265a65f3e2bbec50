"""Who says what, where, and who hears it: the one table of the flow. Read it beside `jobs.py`.

`FLOW` has a row for each message, `CONSUMERS` one for each durable consumer. The services' consumers, the tables of
proto/README.md and proto/asyncapi.yaml come from here. Not here: the calls that a member in pull mode answers, which
are the Kubernetes API over the bus (adapters/remote/messages.py).
"""

import re

from msgspec import Struct

from fairway.wire import asks, fleet, inbound, jobs, subjects
from fairway.wire.envelope import JobMessage, Rebuild

STAGES = ("admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher")
# A door, and on the one loop as the stages.
INBOUND = "inbound"
# The objects of the cluster where tenants apply their jobs; on the one loop, too.
HUB = "hub"
LOOPS = (INBOUND, *STAGES, HUB)
GATEWAY = "gateway"
# Removes manifests of ended jobs from the record; nobody else deletes anything there.
KEEPER = "keeper"
AGENT = "agent"
# No services: a client of the tenant whose subject it is, and who operates the fleet.
TENANT = "tenant"
OPERATOR = "operator"


class FlowRow(Struct, frozen=True):
    """A message: its subject with what varies in braces, the services that say it, those that follow it (they hear it
    while they run, and nothing is kept for them), and what it means. `message` is its Struct: None where the subject
    says it all, or where it is no JSON."""

    name: str
    message: type[Struct] | None
    subject: str
    says: tuple[str, ...]
    meaning: str
    follows: tuple[str, ...] = ()

    @property
    def stream(self) -> str:
        """Empty: it is stored nowhere."""
        return next((s.name for s in subjects.STREAMS for mask in s.subjects if self.subject.startswith(mask[:-1])), "")

    @property
    def filter(self) -> str:
        """What a consumer of this message filters on."""
        head, _, varies = self.subject.partition("{")
        return f"{head}>" if varies.endswith("}") else re.sub(r"\{\w+\}", "*", self.subject)


class FlowConsumer(Struct, frozen=True):
    """A durable consumer: all processes of `service` share it under its name, and it hears these messages."""

    name: str
    service: str
    hears: tuple[type[Struct], ...]


def _job(message: type[JobMessage], says: tuple[str, ...], meaning: str) -> FlowRow:
    return FlowRow(message.verb, message, f"fairway.job.{message.verb}.{{tenant}}", says, meaning)


def _cluster(message: type[fleet.FleetMessage], says: str, meaning: str) -> FlowRow:
    return FlowRow(message.verb, message, f"fairway.cluster.{message.verb}.{{cluster}}", (says,), meaning)


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
            *(jobs.Cancel, jobs.HoldJob, jobs.Revised),
        ),
    ),
    FlowConsumer("queue-freed", "queue", (fleet.Freed,)),
    FlowConsumer("global-scheduler", "global-scheduler", (jobs.Dequeued,)),
    FlowConsumer(
        "reserver",
        "reserver",
        (jobs.Placed, jobs.Succeeded, jobs.Failed, jobs.Lost, jobs.Cancelled, jobs.Removed),
    ),
    FlowConsumer("reserver-reports", "reserver", (fleet.Report,)),
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
