"""What a process counts, and where what it tells at a scrape comes together."""

import time
from collections.abc import Callable, Mapping, Sequence

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from fairway.runtime.metrics.accumulators import OF_DECISIONS, Counts, Sample, Timings
from fairway.runtime.metrics.job_tally import JobTally
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.runtime.metrics.scrape import Sources
from fairway.runtime.views.settings import Catalog
from fairway.wire.reasons import Code

log = structlog.get_logger()
# A series more for each, of the time when it was first counted, which nobody asks for.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library does not say


class _DeadLetterCounts:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.buried = Counter(
            "fairway_dead_letters_total",
            "Messages that could not be handled.",
            ("service", "reason"),
            registry=registry,
        )
        self.waiting = Gauge(
            "fairway_dead_letters_waiting",
            "Dead letters that wait for an operator.",
            ("service",),
            registry=registry,
        )


class _BatchCounts:
    def __init__(self, registry: CollectorRegistry) -> None:
        by = ("service",)
        self.handled = Counter("fairway_messages_handled_total", "Messages acknowledged.", by, registry=registry)
        self.conflicts = Counter(
            "fairway_conflicts_total", "Messages decided again after a refused step.", by, registry=registry
        )
        self.said = Counter("fairway_messages_said_total", "Messages published.", by, registry=registry)
        self.seconds = Histogram("fairway_batch_duration_seconds", "Time to handle one batch.", by, registry=registry)


class DecisionCounts:
    """Of every service of the process: how long they took, and what came of them."""

    def __init__(self) -> None:
        self.seconds = Timings(OF_DECISIONS)
        self.outcomes = Counts()

    def took(self, service: str, count: int, started: float) -> None:
        """So many were decided on together: each counts with the mean, which costs the loop two looks at a clock."""
        if count:
            self.seconds.of((service,)).observe((time.monotonic() - started) / count, count)

    def calls(self, service: str) -> None:
        """What has to be done outside first is decided on again, with what came of that."""
        self.outcomes.add((service, "calls"))

    def done(self, service: str, writes: Sequence[bool], conflicts: int) -> None:
        """Of each message of a batch whether anything is written; so many of those that write were refused."""
        writing = sum(writes)
        nothing = len(writes) - writing
        for outcome, count in (("nothing", nothing), ("committed", writing - conflicts), ("conflict", conflicts)):
            if count:
                self.outcomes.add((service, outcome), count)

    def samples(self) -> list[Sample]:
        return [
            *self.seconds.samples("fairway_decision_duration_seconds"),
            *self.outcomes.samples("fairway_decisions_total"),
        ]


class Meter:
    """Metrics of one process. `start` and `batch` frame the handling of one batch; `sources` are asked at a scrape.
    Labels name what is in the settings of `catalog`."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self.registry = registry = CollectorRegistry()
        by = ("service",)
        self._batches = _BatchCounts(registry)
        self._dead = _DeadLetterCounts(registry)
        self._refused = Counter(
            "fairway_http_refusals_total", "Bodies that the HTTP door cannot read.", ("reason",), registry=registry
        )
        self.sweep_wakes = Counter(
            "fairway_sweep_wakes_total", "Jobs that only the sweep woke; stays 0.", by, registry=registry
        )
        self.frozen = Gauge("fairway_evictions_frozen", "1 while most of the fleet is silent.", by, registry=registry)
        self.ready = Gauge("fairway_ready", "1 while the service can work.", by, registry=registry)
        self.jobs = JobTally(SettingsNames(catalog))
        self.decisions = DecisionCounts()
        self.sources = Sources(_failed)
        self.sources.all += (self.jobs.samples, self.decisions.samples)
        registry.register(self.sources)

    def follow(self, service: str, ready: Callable[[], bool]) -> None:
        """A service of this process: its counters are there before their first event, and every scrape asks `ready`."""
        self.ready.labels(service).set_function(ready)
        for counter in (self._batches.handled, self._batches.conflicts, self._batches.said):
            counter.labels(service)
        for reason in (Code.UNDECODABLE, Code.HANDLER_FAILED, Code.WRONG_SUBJECT, Code.UNSAYABLE):
            self._dead.buried.labels(service, reason)

    def start(self) -> float:
        return time.monotonic()

    def batch(self, service: str, handled: int, conflicts: int, said: int, started: float) -> None:
        self._batches.handled.labels(service).inc(handled - conflicts)
        self._batches.conflicts.labels(service).inc(conflicts)
        self._batches.said.labels(service).inc(said)
        self._batches.seconds.labels(service).observe(time.monotonic() - started)

    def dead_letter(self, service: str, reason: Code) -> None:
        self._dead.buried.labels(service, reason).inc()

    def refused(self, reason: Code) -> None:
        self._refused.labels(reason).inc()

    def letters(self, counts: Mapping[str, int]) -> None:
        """How many dead letters of each service the stream has now."""
        self._dead.waiting.clear()
        for service, count in counts.items():
            self._dead.waiting.labels(service).set(count)


def _failed(error: BaseException) -> None:
    log.error("metrics left out", cause=repr(error), remedy="report this")
