"""What the HTTP door counts: requests by their route, who could not come, and what was not allowed. A label has the
words of the door's own table alone, and never what a request says."""

from collections.abc import Callable, Iterator

from fairway.runtime.metrics.accumulators import OF_REQUESTS, Counts, Durations, Sample, Timings
from fairway.runtime.metrics.label_values import OTHER, Bounded

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Resources are those of the kinds that are known, and of what others declare.
_MOST_RESOURCES = 64
# Why a caller is not known.
NO_TOKEN = "NoToken"
BAD_HEADER = "BadHeader"
BAD_TOKEN = "BadToken"
TOO_MANY = "TooManyRequests"
HUB_AWAY = "HubAway"
AUTHN_REASONS = (NO_TOKEN, BAD_HEADER, BAD_TOKEN, TOO_MANY, HUB_AWAY)


class HttpCounts:
    """`open_streams` is asked at a scrape."""

    def __init__(self) -> None:
        self._requests = Counts()
        self._seconds = Timings(OF_REQUESTS)
        self._unknown = Counts()
        self._denied = Counts()
        self._resources = Bounded(_MOST_RESOURCES)
        self.reviews = Durations(OF_REQUESTS)
        self.open_streams: Callable[[], int] = lambda: 0
        for reason in AUTHN_REASONS:
            self._unknown.add((reason,), 0)

    def answered(self, route: str, method: str, code: int, seconds: float) -> None:
        """`route` is a template, empty when no route is meant."""
        named = route or OTHER
        self._requests.add((named, method if method in _METHODS else OTHER, str(code)))
        self._seconds.observe((named,), seconds)

    def unknown(self, reason: str) -> None:
        self._unknown.add((reason,))

    def denied(self, verb: str, resource: str) -> None:
        self._denied.add((verb, self._resources.value(resource)))

    def samples(self) -> Iterator[Sample]:
        yield from self._requests.samples("fairway_http_requests_total")
        yield from self._seconds.samples("fairway_http_request_duration_seconds")
        yield from self._unknown.samples("fairway_authn_failures_total")
        yield from self._denied.samples("fairway_authz_denied_total")
        yield "fairway_access_review_duration_seconds", (), self.reviews
        yield "fairway_event_streams", (), self.open_streams()
