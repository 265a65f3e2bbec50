"""Every metric of Fairway that has a row here: its name, kind, labels and meaning, and who tells it. The collectors
and docs/metrics.md are made from it."""

from msgspec import Struct

COUNTER = "counter"
GAUGE = "gauge"
HISTOGRAM = "histogram"
# One process of those that run the service tells, so that a sum over processes is right.
ONE = "one process"
EACH = "each process"


class Family(Struct, frozen=True):
    """`told_by` is the service that owns the fact, empty for every process; `by` whether one process of it tells or
    each does."""

    name: str
    kind: str
    labels: tuple[str, ...]
    text: str
    told_by: str = ""
    by: str = EACH


def _of(kind: str, told_by: str, by: str, *rows: tuple[str, tuple[str, ...], str]) -> tuple[Family, ...]:
    return tuple(Family(f"fairway_{name}", kind, labels, text, told_by, by) for name, labels, text in rows)


_AMOUNT = ("cluster", "resource", "unit")
_QUOTA = ("node", "resource", "unit")
FAMILIES = (
    *_of(
        GAUGE,
        "queue",
        ONE,
        ("jobs", ("queue", "state"), "Jobs that have not ended."),
        ("pending_jobs", ("queue", "reason"), "Jobs that wait in their queue, by the first reason to wait."),
        ("oldest_pending_seconds", ("queue",), "Since when the oldest job waits that its owner has not suspended."),
        ("claims_open", (), "Claims of waiting jobs on room that others have."),
        (
            "evictions_most",
            (),
            "How often that job was evicted, of those that have not ended, which was so most often.",
        ),
        ("quota_used", _QUOTA, "What a node of the quota tree is charged."),
        ("quota_min", _QUOTA, "What a node of the quota tree is guaranteed."),
        ("quota_max", _QUOTA, "What a node of the quota tree never exceeds."),
    ),
    *_of(
        GAUGE,
        "reserver",
        ONE,
        ("cluster_allocatable", _AMOUNT, "What the nodes of a cluster have for pods."),
        ("cluster_used", _AMOUNT, "What pods that are not Fairway's request there."),
        ("cluster_held", _AMOUNT, "What attempts of Fairway hold there, reserved or running."),
        ("cluster_free", _AMOUNT, "What is left of the nodes that take pods."),
        ("cluster_nodes", ("cluster", "state"), "Nodes of a cluster."),
        ("cluster_report_age_seconds", ("cluster",), "How long ago the last report of a cluster came."),
    ),
    *_of(
        GAUGE,
        "agent",
        EACH,
        ("member_token_expiry_timestamp_seconds", ("cluster",), "When the token of a joined cluster ends."),
    ),
    *_of(
        HISTOGRAM,
        "",
        EACH,
        ("job_stage_duration_seconds", ("stage",), "How long a job was in a stage that it has left."),
        ("job_wait_seconds", ("queue",), "From entering its queue to leaving it, attempt by attempt."),
        ("claim_duration_seconds", (), "From a claim until its job has its place, of claims that were used."),
        ("decision_duration_seconds", ("service",), "Time to decide on one message, as the mean of its batch."),
        ("rebuild_duration_seconds", ("service",), "Time to make the working set from the record."),
    ),
    *_of(
        COUNTER,
        "",
        EACH,
        ("jobs_ended_total", ("queue", "state", "reason"), "Jobs that have ended."),
        ("attempts_ended_total", ("cluster", "reason"), "Attempts that have ended."),
        ("evictions_total", ("cause",), "Attempts that were ended to make room for a job with a claim."),
        (
            "evictions_wasted_total",
            ("reason",),
            "Attempts that were ended for a claim that was not used, by how that ended; counted at its end.",
        ),
        ("claims_ended_total", ("reason",), "Claims that have ended: Used, or why without a place for their job."),
        ("decisions_total", ("service", "outcome"), "Decisions on messages."),
        ("lease_changes_total", ("lease",), "How often this process got the lease."),
        ("rebuilds_total", ("service",), "How often this process made the working set from the record."),
    ),
    *_of(
        GAUGE,
        "",
        EACH,
        ("lease_held", ("lease",), "1 while this process has the lease."),
        ("build_info", ("version", "python"), "1; what runs."),
    ),
    *_of(
        GAUGE,
        "",
        ONE,
        ("consumer_pending_messages", ("consumer",), "Messages that were not given to anybody yet."),
        ("consumer_unacked_messages", ("consumer",), "Messages in work, or put off."),
        ("consumer_oldest_age_seconds", ("consumer",), "Age of the oldest message that is not done with."),
        ("outbox_rows", ("service",), "Rows of messages that were decided and perhaps not said."),
    ),
    *_of(
        COUNTER,
        "gateway",
        EACH,
        ("http_requests_total", ("route", "method", "code"), "Requests that were answered."),
        ("authn_failures_total", ("reason",), "Requests whose caller is not known."),
        ("authz_denied_total", ("verb", "resource"), "Requests for what their caller may not do."),
    ),
    *_of(
        HISTOGRAM,
        "gateway",
        EACH,
        ("http_request_duration_seconds", ("route",), "From a request to the beginning of its answer."),
        ("access_review_duration_seconds", (), "Time the hub takes to say who comes, or what they may do."),
    ),
    *_of(GAUGE, "gateway", EACH, ("event_streams", (), "Event streams that are open.")),
)
BY_NAME = {family.name: family for family in FAMILIES}
# These the loop counts with the library's own counters, as Meter makes them.
_BY_SERVICE = ("service",)
LIBRARY_FAMILIES = (
    *_of(
        COUNTER,
        "",
        EACH,
        ("messages_handled_total", _BY_SERVICE, "Messages acknowledged."),
        ("messages_said_total", _BY_SERVICE, "Messages published."),
        ("conflicts_total", _BY_SERVICE, "Messages decided again after a refused step."),
        ("dead_letters_total", ("service", "reason"), "Messages that could not be handled."),
    ),
    *_of(
        HISTOGRAM,
        "",
        EACH,
        ("batch_duration_seconds", _BY_SERVICE, "Time to handle one batch."),
    ),
    *_of(GAUGE, "", EACH, ("ready", _BY_SERVICE, "1 while the service can work.")),
    *_of(COUNTER, "queue", EACH, ("sweep_wakes_total", _BY_SERVICE, "Jobs that only the sweep woke; stays 0.")),
    *_of(GAUGE, "watcher", EACH, ("evictions_frozen", _BY_SERVICE, "1 while most of the fleet is silent.")),
    *_of(
        GAUGE,
        "gateway",
        EACH,
        ("dead_letters_waiting", _BY_SERVICE, "Dead letters that wait for an operator."),
    ),
    *_of(COUNTER, "gateway", EACH, ("http_refusals_total", ("reason",), "Bodies that the HTTP door cannot read.")),
)
