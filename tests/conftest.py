"""For every test: one real NATS and one real Valkey for each test process, started when first asked for.

They are shared by the tests of that process: use your own stream prefix and key prefix, or `flush` first.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import zip_longest
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from fairway.lab.kubereal.build import Tools, cache
from fairway.lab.processes.embedded_servers import EmbeddedServer, nats_server, valkey_server
from tests.dealing import Dealing, group, turn
from tests.support.standing import standing

# The machine may have other things to do.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole fleets first, the longest before all, and in between what is soon over: a worker has three in hand."""
    fleets: dict[str, list[pytest.Item]] = {}
    for one in sorted(items, key=lambda one: turn(one.path)):
        if one.path.parent.name in ("end_to_end", "faults"):
            fleets.setdefault(group(one.nodeid), []).append(one)
    units = list(fleets.values())
    half = (len(units) + 1) // 2
    first = [one for pair in zip_longest(units[:half], units[half:], fillvalue=[]) for unit in pair for one in unit]
    items[:] = first + [one for one in items if one not in first]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Dealing:
    return Dealing(config, log)


@asynccontextmanager
async def _started(start: Callable[[Path], Awaitable[EmbeddedServer]], dir: Path) -> AsyncIterator[EmbeddedServer]:
    async with await start(dir) as server:
        yield server


@pytest.fixture(scope="session")
def nats_embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The shared NATS. Do not stop it: a test of failure starts its own."""
    yield from standing(lambda: _started(nats_server, tmp_path_factory.mktemp("nats")))


@pytest.fixture(scope="session")
def valkey_embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The shared Valkey. Do not stop it: a test of failure starts its own."""
    yield from standing(lambda: _started(valkey_server, tmp_path_factory.mktemp("valkey")))


@pytest.fixture(scope="session")
def nats_url(nats_embedded: EmbeddedServer) -> str:
    return nats_embedded.url


@pytest.fixture(scope="session")
def valkey_url(valkey_embedded: EmbeddedServer) -> str:
    return valkey_embedded.url


@pytest.fixture
def flush(valkey_url: str) -> Callable[[], None]:
    """Empty the shared Valkey."""

    def empty() -> None:
        with redis.Redis.from_url(valkey_url) as client:
            client.flushall()

    return empty


@pytest.fixture(scope="session")
def kubernetes() -> Tools:
    """What `make test` builds before it tests anything: only who calls pytest by hand can be without."""
    found = Tools(cache())
    if not found.built("kube"):
        pytest.skip("Kubernetes is not built: make kubernetes")
    return found


@pytest.fixture(scope="session")
def kubectl(kubernetes: Tools) -> Path:
    return kubernetes.program("kubectl")
