"""Counters and histograms that cost a loop little: plain numbers by label values, shaped for Prometheus at a scrape.
One thread writes and reads them."""

from bisect import bisect_left
from collections.abc import Callable, Iterator

# Label values, in the order of the family's labels.
Labels = tuple[str, ...]
# The name of a family, label values, and a number or a histogram.
Sample = tuple[str, Labels, "float | Durations"]
# In seconds. Jobs wait and run for days; decisions take microseconds.
OF_JOBS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400)
# From an answer where nobody has to leave to the longest notice and grace, and what is kept beyond.
OF_CLAIMS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 180, 300)
OF_DECISIONS = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1)
OF_REQUESTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
OF_REBUILDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Counts:
    """Numbers that only grow, by label values."""

    def __init__(self) -> None:
        self.values: dict[Labels, float] = {}

    def add(self, labels: Labels, amount: float = 1) -> None:
        self.values[labels] = self.values.get(labels, 0) + amount

    def samples(self, name: str) -> Iterator[Sample]:
        return ((name, labels, value) for labels, value in self.values.items())


class Durations:
    """A histogram of seconds. `counts` has one more than `bounds`: what is longer than the last."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, seconds: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += times
        self.sum += seconds * times

    @property
    def count(self) -> int:
        return sum(self.counts)

    def buckets(self) -> list[tuple[str, float]]:
        """As Prometheus has them: how many are at most so long."""
        found: list[tuple[str, float]] = []
        total = 0
        for bound, count in zip((*self.bounds, None), self.counts, strict=True):
            total += count
            found.append(("+Inf" if bound is None else f"{float(bound)}", total))
        return found


class Timings:
    """Histograms by label values."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.values: dict[Labels, Durations] = {}

    def of(self, labels: Labels) -> Durations:
        """Whoever keeps it may observe without looking it up."""
        found = self.values.get(labels)
        if found is None:
            found = self.values[labels] = Durations(self._bounds)
        return found

    def observe(self, labels: Labels, seconds: float) -> None:
        self.of(labels).observe(seconds)

    def samples(self, name: str) -> Iterator[Sample]:
        return ((name, labels, value) for labels, value in self.values.items())


def keep(values: dict[Labels, float] | dict[Labels, Durations], known: Callable[[str], bool]) -> None:
    """Forgets what is counted by a first label value that is not known any more."""
    for labels in [labels for labels in values if not known(labels[0])]:
        del values[labels]
