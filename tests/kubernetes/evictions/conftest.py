"""`house`: a fleet of these tests' own, empty at first."""

from collections.abc import Iterator

import pytest

from tests.kubernetes.evictions.fleet import EvictionFleet, running
from tests.kubernetes.evictions.house import LENDER, OWNER, EvictionHouse


@pytest.fixture(scope="session")
def evictions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvictionFleet]:
    with running(tmp_path_factory.mktemp("evictions")) as fleet:
        for name in (LENDER, OWNER):
            fleet.hub.create("v1/namespaces", {"metadata": {"name": name}})
        yield fleet


@pytest.fixture
def house(evictions: EvictionFleet) -> Iterator[EvictionHouse]:
    made = EvictionHouse(evictions)
    yield made
    made.clear()
