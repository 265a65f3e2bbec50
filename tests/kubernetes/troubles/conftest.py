"""A fleet of a worker's own, whose servers and connections a test may spoil: `fleet`, and a `tenant` in it."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.kubernetes.support.own import Own
from tests.kubernetes.troubles.troubled import JOBS, Troubled

_numbers = count()


@pytest.fixture(scope="session")
def troubles(own: Own, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Troubled]:
    """A fleet on those servers."""
    fleet = Troubled(own, tmp_path_factory.mktemp("troubled"))
    yield fleet
    fleet.stop()


@pytest.fixture
def fleet(troubles: Troubled) -> Iterator[Troubled]:
    """It is well, whatever the test before broke."""
    troubles.restore()
    troubles.reported()
    yield troubles
    troubles.restore()


@pytest.fixture
def tenant(fleet: Troubled) -> Iterator[str]:
    """A new namespace on its hub."""
    name = f"trouble-{next(_numbers)}"
    fleet.hub.create("v1/namespaces", {"metadata": {"name": name, "labels": {"fairway.io/tenant": "true"}}})
    yield name
    # As kubectl does; the API's own default for Jobs leaves their pods, and a finalizer.
    fleet.hub.delete(JOBS.format(name), propagationPolicy="Background")
