"""What the processes of a fleet say on their metrics ports, scrape by scrape, as series that rules can be tried on."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping

import httpx
from prometheus_client.parser import text_string_to_metric_families

# A scrape stands for a second of the rules' time.
INTERVAL = "1s"
_TIMEOUT_S = 5.0
_FAIRWAY = re.compile(r"fairway_")
_GROWS = re.compile(r"^\w+_(total|bucket|count|sum)\{")


class Scrapes:
    """`addresses` says where each process is by its name; one that does not answer says nothing, as to Prometheus."""

    def __init__(self, addresses: Callable[[], Mapping[str, str]]) -> None:
        self._addresses = addresses
        self._found: list[dict[str, float]] = []
        # The pages of the last scrape, as they came, by process.
        self.pages: dict[str, str] = {}

    @property
    def count(self) -> int:
        return len(self._found)

    @property
    def names(self) -> set[str]:
        """Of everything that was ever told."""
        return {series.partition("{")[0] for one in self._found for series in one}

    async def take(self) -> None:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
            asked = self._addresses()
            pages = await asyncio.gather(*(_page(client, address) for address in asked.values()))
        self.pages = {process: page for process, page in zip(asked, pages, strict=True) if page}
        self._found.append({name: value for one in self.pages.items() for name, value in _values(*one)})

    def last(self, name: str, **labels: str) -> list[float]:
        """The values of these series in the last scrape."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        found = self._found[-1].items() if self._found else ()
        return [
            value for series, value in found if series.startswith(f"{name}{{") and all(one in series for one in wanted)
        ]

    def labelled(self, name: str, label: str) -> set[str]:
        """The values of a label in all scrapes of a metric."""
        every = {series for one in self._found for series in one if series.startswith(f"{name}{{")}
        return {value for series in every for value in re.findall(rf'\b{label}="(.*?)"', series)}

    def series(self, names: set[str], lasting: int, since: int) -> dict[str, str]:
        """In promtool's words, of these metrics. What was found lasts so many seconds more: a gauge is what it was in
        the last scrape, and what only grows goes on at the pace that it had from scrape `since`."""
        every = sorted({series for one in self._found for series in one if series.partition("{")[0] in names})
        return {series: " ".join((*self._values(series), self._rest(series, lasting, since))) for series in every}

    def _rest(self, series: str, lasting: int, since: int) -> str:
        last = self._found[-1].get(series)
        if last is None:
            return f"_x{lasting}"
        then = self._found[since].get(series, 0.0)
        pace = (last - then) / max(1, self.count - 1 - since) if _GROWS.search(series) else 0.0
        return f"{last + pace}+{max(0.0, pace)}x{lasting}"

    def _values(self, series: str) -> list[str]:
        values = []
        before: float | None = None
        for one in self._found:
            value = one.get(series)
            values.append(f"{value}" if value is not None else "_" if before is None else "stale")
            before = value
        return values


async def _page(client: httpx.AsyncClient, address: str) -> str:
    """Empty where there is none."""
    try:
        answer = await client.get(f"{address}/metrics")
    except httpx.HTTPError:
        return ""
    return answer.text if answer.status_code == 200 else ""


def _values(process: str, page: str) -> Iterator[tuple[str, float]]:
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if _FAIRWAY.match(sample.name):
                yield _series(sample.name, {**sample.labels, "instance": process}), sample.value


def _series(name: str, labels: Mapping[str, str]) -> str:
    return f"{name}{{{','.join(f'{key}={_quoted(value)}' for key, value in sorted(labels.items()))}}}"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
