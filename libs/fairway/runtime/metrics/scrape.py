"""What a scrape is answered with beside the library's own counters: every source is asked then, and told by the table
of families."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from fairway.runtime.metrics.accumulators import Durations, Sample
from fairway.runtime.metrics.families import BY_NAME, COUNTER, GAUGE, Family

Source = Callable[[], Iterable[Sample]]


class Sources(Collector):
    """A collector of a registry. A source that fails is left out of that scrape, and `failed` is told."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self.all: list[Source] = []

    def describe(self) -> Iterable[Metric]:
        """Nothing is asked when it is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        found: dict[str, list[Sample]] = {}
        for source in self.all:
            try:
                samples = list(source())
            except Exception as error:  # the other facts are told all the same
                self._failed(error)
                continue
            for one in samples:
                found.setdefault(one[0], []).append(one)
        return (_metric(BY_NAME[name], found[name]) for name in sorted(found))


def _metric(family: Family, samples: list[Sample]) -> Metric:
    if family.kind == GAUGE:
        made: GaugeMetricFamily | CounterMetricFamily = GaugeMetricFamily(
            family.name, family.text, labels=family.labels
        )
    elif family.kind == COUNTER:
        made = CounterMetricFamily(family.name, family.text, labels=family.labels)
    else:
        return _histogram(family, samples)
    for _, labels, value in samples:
        assert not isinstance(value, Durations), f"{family.name} is no histogram"
        made.add_metric(labels, value)
    return made


def _histogram(family: Family, samples: list[Sample]) -> Metric:
    made = HistogramMetricFamily(family.name, family.text, labels=family.labels)
    for _, labels, value in samples:
        assert isinstance(value, Durations), f"{family.name} is a histogram"
        made.add_metric(labels, value.buckets(), value.sum)
    return made
