"""Real Kubernetes for tests. `make kubernetes` has built the programs; whoever asks first starts the shared fleet.

`fleet` is `fairway up --real`, one for the whole run and all its workers: a hub, members north, south and west with
their operators, and every service. Use a `tenant` of your own in it, and leave its servers alone: tests that break
servers start some of their own with `planes` of kubereal.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil
import pytest

from fairway.lab.kubereal.control_plane import Spec
from tests.dealing import turn
from tests.kubernetes.settings.fleet import TENANT
from tests.kubernetes.support.fleet import KINDS, Api, RealFleet, environment, in_namespace
from tests.kubernetes.support.manifests import EXAMPLES
from tests.kubernetes.support.own import Own
from tests.kubernetes.support.own_hub import define

HERE = Path(__file__).parent
_START_S = 180.0
_numbers = count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the order in which they are begun: a long test that is begun last keeps one worker alone."""
    items.sort(key=lambda item: turn(item.path))
    for item in items:
        # A connection to a server that was killed is let go of when it is collected, which asyncio warns of in whatever
        # test runs by then.
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealFleet]:
    """The shared fleet, started when first asked for; it ends with the test run."""
    shared = _shared(tmp_path_factory)
    with (shared / "real.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "real"
        if not (folder / "fleet.json").exists():
            _start(folder)
    found = RealFleet(folder)
    yield found
    found.close()


@pytest.fixture(scope="session")
def classes(fleet: RealFleet) -> None:
    """The PriorityClasses that the examples name, on the hub alone. One worker after another, as only one class may be
    the default."""
    with (fleet.dir.parent / "classes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fleet.hub.kubectl("apply", "--server-side", "-f", str(EXAMPLES / "priorityclasses.yaml"))


@pytest.fixture
def tenant(fleet: RealFleet, request: pytest.FixtureRequest) -> Iterator[str]:
    """A new namespace on the hub. What jobs are left in it afterwards are deleted."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw")
    name = f"{worker}-{next(_numbers)}-{request.node.name.split('[')[0].replace('_', '-')[:40]}".strip("-")
    fleet.hub.create("v1/namespaces", {"metadata": {"name": name}})
    yield name
    _clear(fleet.hub, name)


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    """Servers of this worker alone, for the tests that break them."""
    servers = Own(tmp_path_factory.mktemp("own"))
    yield servers
    servers.stop()


@pytest.fixture(scope="session")
def settings_hub(own: Own) -> Api:
    """An API server with Fairway's definitions alone, for tests that would disturb others."""
    own.do(own.begun(Spec("settings")))
    hub = own.api("settings")
    define(hub)
    for namespace in (TENANT, "kube-queue"):
        hub.create("v1/namespaces", {"metadata": {"name": namespace}})
    return hub


def _clear(hub: Api, tenant: str) -> None:
    for kind in KINDS.values():
        hub.delete(in_namespace(kind, tenant))


def _shared(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _start(folder: Path) -> None:
    """For the process that all workers have in common: the run ends when it does."""
    folder.mkdir(parents=True, exist_ok=True)
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    log = folder.parent / "real.log"
    keeper = [sys.executable, str(HERE / "support" / "keeper.py"), str(owner), str(log)]
    command = [*keeper, sys.executable, "-m", "fairway.cli.main", "up", "--real", "--dir", str(folder)]
    # Nobody waits a minute here until pods are given up whose node is away; and all workers ask as one caller.
    own = {"FAIRWAY_NODE_GRACE": "8", "FAIRWAY_HTTP_RATE": "10000"}
    started = subprocess.Popen(command, env={**environment(), **own}, start_new_session=True)
    (folder.parent / "keeper").write_text(str(started.pid))
    end = time.monotonic() + _START_S
    while not (folder / "fleet.json").exists():
        assert started.poll() is None and time.monotonic() < end, f"no fleet: {log.read_text()[-2000:]}"
        time.sleep(0.1)
    # It is left running: the keeper ends it.
    started.returncode = 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The controller of the run (or the only process) ends the fleet, and waits until it is gone."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    if "PYTEST_XDIST_WORKER" in os.environ or factory is None:
        return
    note = factory.getbasetemp() / "keeper"
    if note.exists() and psutil.pid_exists(pid := int(note.read_text())):
        keeper = psutil.Process(pid)
        keeper.send_signal(signal.SIGTERM)
        keeper.wait(90)
