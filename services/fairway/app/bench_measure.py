"""What the benchmark measures by: journeys with their times, processor time and memory of processes, the machine."""

import asyncio
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from fairway.adapters.nats_bus import NatsBus
from fairway.runtime.ports import Delivery, Outgoing

# A chunk is published in one pipelined call.
_CHUNK = 64
# Without a single arrival for this long something is stuck.
_PATIENCE_S = 30.0


class Stuck(RuntimeError):
    """Journeys no longer arrive; the message has the numbers."""


class Journeys:
    """Messages that were sent and those that arrived, with times in seconds of the loop's clock. `count` of the
    source is taken at a time; `name_of` tells which journey an arrival belongs to."""

    def __init__(self, bus: NatsBus, source: Iterator[tuple[str, Outgoing]], tick: Callable[[], None]) -> None:
        self._bus, self._source, self._tick = bus, source, tick
        self.sent: dict[str, float] = {}
        self.arrived: dict[str, float] = {}
        self.order: list[float] = []
        self.strange = 0
        self._news = asyncio.Event()

    async def listen(self, stream: str, subject: str, name_of: Callable[[Delivery], str]) -> None:
        """For ever: notes every arrival on the subject, once or more often."""
        loop = asyncio.get_running_loop()
        async for delivery in self._bus.history(stream, (subject,), live=True):
            if not delivery.subject:
                continue
            name = name_of(delivery)
            if name in self.arrived or name not in self.sent:
                self.strange += 1
            self.arrived.setdefault(name, loop.time())
            self.order.append(loop.time())
            self._tick()
            self._news.set()

    @property
    def under_way(self) -> int:
        return len(self.sent) - len(self.arrived)

    async def saturate(self, count: int, window: int) -> None:
        """Sends so many, as fast as they arrive, with at most `window` under way; returns when all have arrived."""
        left = count
        while left:
            chunk = min(_CHUNK, left)
            while self.under_way + chunk > max(window, chunk):
                await self._some()
            await self._send(chunk)
            left -= chunk
        await self.drain()

    async def steady(self, count: int, rate: float) -> None:
        """Sends so many at `rate` per second, whatever arrives; returns when all have arrived."""
        loop = asyncio.get_running_loop()
        start, sent = loop.time(), 0
        while sent < count:
            due = min(count, int((loop.time() - start) * rate) + 1) - sent
            if due:
                await self._send(min(due, _CHUNK))
                sent += min(due, _CHUNK)
            else:
                await asyncio.sleep(0.002)
        await self.drain()

    async def drain(self) -> None:
        while self.under_way:
            await self._some()

    async def _some(self) -> None:
        self._news.clear()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._news.wait()
        except TimeoutError:
            missing = sorted(set(self.sent) - set(self.arrived))[:3]
            raise Stuck(
                f"{self.under_way} of {len(self.sent)} never arrived, such as {', '.join(missing)}; "
                "see the logs of the services"
            ) from None

    async def _send(self, count: int) -> None:
        now = asyncio.get_running_loop().time()
        messages = []
        for _ in range(count):
            name, message = next(self._source)
            self.sent[name] = now
            messages.append(message)
        await self._bus.publish(messages)

    def latencies(self, skip: int) -> list[float]:
        """Milliseconds from sent to arrived of all but the first `skip` sent, ascending."""
        return sorted((self.arrived[name] - at) * 1000 for name, at in list(self.sent.items())[skip:])


def percentile(ascending: Sequence[float], share: float) -> float:
    """The value that this share of all values does not pass; 0 for none."""
    return round(ascending[min(len(ascending) - 1, int(len(ascending) * share))], 1) if ascending else 0.0


def cpu_seconds(pid: int) -> float:
    """User and system time of a process (proc(5), fields utime and stime); 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu(pids: Mapping[str, int]) -> dict[str, float]:
    return {name: cpu_seconds(pid) for name, pid in pids.items()}


def rss_mib(pids: Mapping[str, int]) -> dict[str, float]:
    """Resident memory (proc(5), statm) in MiB."""
    pages = {name: int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for name, pid in pids.items()}
    return {name: round(count * os.sysconf("SC_PAGE_SIZE") / 2**20, 1) for name, count in pages.items()}


def peak_mib(pid: int) -> float:
    """The most resident memory that a process ever had (proc(5), VmHWM) in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024, 1)


def per_job(before: Mapping[str, float], after: Mapping[str, float], jobs: int) -> dict[str, float]:
    """Processor time in microseconds a job."""
    return {name: round((after[name] - before[name]) / jobs * 1e6, 1) for name in before}


async def batch_facts(addresses: Iterable[str]) -> dict[str, dict[str, float]]:
    """By service, from the metrics of its process since its start: messages in a batch on average, milliseconds from
    a batch's read to its publish."""
    facts: dict[str, dict[str, float]] = {}
    async with aiohttp.ClientSession() as session:
        for address in addresses:
            async with session.get(f"{address}/metrics/") as answer:
                found = {
                    (sample.name, sample.labels["service"]): sample.value
                    for family in text_string_to_metric_families(await answer.text())
                    for sample in family.samples
                    if "le" not in sample.labels
                }
            for service in sorted({service for _, service in found}):
                count = max(found.get(("fairway_batch_duration_seconds_count", service), 0), 1)
                spent = found.get(("fairway_batch_duration_seconds_sum", service), 0)
                handled = found.get(("fairway_messages_handled_total", service), 0)
                facts[service] = {"messages": round(handled / count, 1), "ms": round(spent / count * 1000, 1)}
    return facts


def versions(packages: Iterable[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """What the figures were measured on, and how busy it was before."""
    info = Path("/proc/cpuinfo")
    models = [line.partition(": ")[2] for line in info.read_text().splitlines() if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(), "cores": os.cpu_count(), "system": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
    }  # fmt: skip
