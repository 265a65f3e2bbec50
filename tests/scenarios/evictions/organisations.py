"""The organisations of docs/quota-and-queues.md as fleets in memory: their manifests are those of the page."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fairway.workloads.reading.parse import parse_documents
from tests.paths import ROOT
from tests.scenarios.evictions.tenants import submit
from tests.scenarios.memory_fleet import Fleet, running

# By title.
SHARING = "Research teams that share"
CLASSES = "Production, research and batch"
DEPARTMENTS = "Departments with teams"
_PAGE = (ROOT / "docs/quota-and-queues.md").read_text()
# Of leaves that have no namespace team-<leaf>.
_NAMESPACES = {"production": "prod-training", "research": "team-vision", "batch": "nightly"}


@asynccontextmanager
async def organisation(title: str, nodes: int) -> AsyncIterator[Fleet]:
    """So many nodes of eight GPUs in two clusters, under the manifests that stand below the title."""
    found = re.search(rf"^### {title}\n.*?^```yaml\n(.*?)^```", _PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    async with running(c1=(8,) * (nodes // 2), c2=(8,) * (nodes - nodes // 2)) as fleet:
        for manifest in parse_documents(found[1].encode()):
            fleet.configure(manifest["kind"], manifest["metadata"]["name"], manifest)
        yield fleet
        assert fleet.findings().violations == ()
        assert not fleet.bus.stored("DLQ")


async def come(fleet: Fleet, leaf: str, count: int, gpus: int = 8, **more: Any) -> list[str]:
    """So many jobs of a leaf, one after the other."""
    there = len(fleet.jobs())
    namespace = _NAMESPACES.get(leaf, f"team-{leaf}")
    names = [f"{leaf}-{there + number}" for number in range(count)]
    return [await submit(fleet, name, 1, gpus, namespace=namespace, **more) for name in names]
