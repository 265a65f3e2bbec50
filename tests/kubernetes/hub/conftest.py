"""`kept`: a fleet of these tests' own, with the hub service apart; `place`: a namespace in it."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.kubernetes.hub.fleet import HubFleet, running
from tests.kubernetes.support.fleet import KINDS, in_namespace

_numbers = count()


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubFleet]:
    with running(tmp_path_factory.mktemp("hub")) as fleet:
        yield fleet


@pytest.fixture
def place(kept: HubFleet) -> Iterator[str]:
    """A new namespace on its hub. What is left in it afterwards is deleted."""
    name = f"place-{next(_numbers)}"
    kept.hub.create("v1/namespaces", {"metadata": {"name": name}})
    yield name
    kept.hub.delete(in_namespace(KINDS["Job"], name), propagationPolicy="Background")
