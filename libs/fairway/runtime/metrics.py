"""What the loop counts, in Prometheus' words: base units, plural units, no job id in a label."""

import time
from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from fairway.wire.reasons import Code


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


class Meter:
    """Metrics of one process. `start` and `batch` frame the handling of one batch."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by = ("service",)
        registry = self.registry
        self._handled = Counter("fairway_messages_handled_total", "Messages acknowledged.", by, registry=registry)
        self._conflicts = Counter(
            "fairway_conflicts_total", "Messages decided again after a refused step.", by, registry=registry
        )
        self._said = Counter("fairway_messages_said_total", "Messages published.", by, registry=registry)
        self._dead = _DeadLetterCounts(registry)
        self._seconds = Histogram("fairway_batch_duration_seconds", "Time to handle one batch.", by, registry=registry)
        self._refused = Counter(
            "fairway_http_refusals_total", "Bodies that the HTTP door cannot read.", ("reason",), registry=registry
        )
        self.sweep_wakes = Counter(
            "fairway_sweep_wakes_total", "Jobs that only the sweep woke; stays 0.", by, registry=registry
        )
        self.frozen = Gauge("fairway_evictions_frozen", "1 while most of the fleet is silent.", by, registry=registry)
        self.ready = Gauge("fairway_ready", "1 while the service can work.", by, registry=registry)

    def follow(self, service: str, ready: Callable[[], bool]) -> None:
        """A service of this process: its counters are there before their first event, and every scrape asks `ready`."""
        self.ready.labels(service).set_function(ready)
        for counter in (self._handled, self._conflicts, self._said):
            counter.labels(service)
        for reason in (Code.UNDECODABLE, Code.HANDLER_FAILED, Code.WRONG_SUBJECT, Code.UNSAYABLE):
            self._dead.buried.labels(service, reason)

    def start(self) -> float:
        return time.monotonic()

    def batch(self, service: str, handled: int, conflicts: int, said: int, started: float) -> None:
        self._handled.labels(service).inc(handled - conflicts)
        self._conflicts.labels(service).inc(conflicts)
        self._said.labels(service).inc(said)
        self._seconds.labels(service).observe(time.monotonic() - started)

    def dead_letter(self, service: str, reason: Code) -> None:
        self._dead.buried.labels(service, reason).inc()

    def refused(self, reason: Code) -> None:
        self._refused.labels(reason).inc()

    def letters(self, counts: Mapping[str, int]) -> None:
        """How many dead letters of each service the stream has now."""
        self._dead.waiting.clear()
        for service, count in counts.items():
            self._dead.waiting.labels(service).set(count)
