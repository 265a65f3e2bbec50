"""`fairway up` keeps its secrets to itself, shows its hub's rights, and does not outlive a server of its own."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

FAIRWAY = [sys.executable, "-m", "fairway.cli.main"]
START_S = 90


class Up:
    """A running `fairway up` in a folder of its own, begun with the usual umask."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.process = process
        self.family = psutil.Process(process.pid).children(recursive=True)
        self.facts: dict[str, Any] = json.loads((folder / ".fairway" / "fleet.json").read_bytes())


@contextlib.contextmanager
def up(folder: Path) -> Iterator[Up]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
    with subprocess.Popen(
        [*FAIRWAY, "up"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, umask=0o022
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            if "Ctrl-C ends it." in line:
                break
        else:
            raise AssertionError(process.stderr.read())
        try:
            yield Up(folder, process)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=START_S)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One for the tests that only look, in a folder in which an earlier version left files open to others."""
    folder = tmp_path_factory.mktemp("up")
    home = folder / ".fairway"
    home.mkdir(mode=0o755)
    for name in ("fleet.json", "hub.kubeconfig", "clusters.json", "admin.token"):
        (home / name).touch(0o644)
    with up(folder) as found:
        yield found


def test_every_file_is_its_owners_alone(standing: Up) -> None:
    """Looked at while it runs. What was open to others is replaced, not written on."""
    home = standing.folder / ".fairway"
    folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
    files = [path for path in home.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"fleet.json", "hub.kubeconfig", "north.kubeconfig", "hub.json", "nats.conf", "server.log"} <= names
    assert {"team-vision.kubeconfig", "admin.token", "clusters.log", "clusters.json", "lock"} <= names
    assert any("jetstream" in str(path) for path in files), "messages are on disk"
    open_to_others = {str(path): oct(path.stat().st_mode) for path in files if path.stat().st_mode & 0o177}
    assert open_to_others == {}
    assert [path for path in folders if stat.S_IMODE(path.stat().st_mode) != 0o700] == []
    for child in standing.family:  # what is open to read by others as a command line or an environment
        assert standing.facts["token"] not in " ".join(child.cmdline())


def run(kubectl: Path, config: Path, *words: str, given: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [str(kubectl), "--kubeconfig", str(config), "--cache-dir", str(config.parent / "cache"), *words],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_tenant_of_the_hub_writes_jobs_of_its_own_namespace_and_nothing_else(
    standing: Up, kubectl: Path, tmp_path: Path
) -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "mine"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
    }
    queue = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "metadata": {"name": "q"}}
    home = standing.folder / ".fairway"
    tenant = home / "tenants" / "team-vision.kubeconfig"
    admin = home / "hub.kubeconfig"
    assert run(kubectl, tenant, "apply", "-f", "-", given=json.dumps(job))[0] == 0
    assert "mine" in run(kubectl, tenant, "get", "jobs")[1]
    for words, given in (
        (("-n", "team-data", "create", "-f", "-"), job),
        (("create", "-f", "-"), queue),
        (("-n", "team-data", "get", "jobs"), None),
        (("-n", "kube-system", "get", "elasticquotatrees"), None),
        (("get", "secrets"), None),
    ):
        code, said = run(kubectl, tenant, *words, given=json.dumps(given) if given else "")
        assert (code, "forbidden" in said) == (1, True), said
    member = home / "clusters" / "north.kubeconfig"
    assert run(kubectl, member, "get", "nodes")[0] == 0
    assert run(kubectl, admin, "get", "namespaces")[0] == 0
    stolen = json.loads(member.read_bytes())
    stolen["users"] = json.loads(admin.read_bytes())["users"]
    stolen["users"][0]["name"] = stolen["contexts"][0]["context"]["user"]
    (tmp_path / "stolen").write_text(json.dumps(stolen))
    code, said = run(kubectl, tmp_path / "stolen", "get", "nodes")
    assert (code, "logged in" in said) == (1, True), said


@pytest.mark.parametrize(
    ("word", "names"),
    [
        pytest.param("nats-server", "NATS", id="NATS"),
        pytest.param("valkey-server", "Valkey", id="Valkey"),
        pytest.param("fairway.lab.kubesim", "the clusters", id="the simulated clusters"),
        pytest.param("--announce", "the services' process", id="the services"),
    ],
)
def test_when_a_server_dies_it_ends_and_says_which(word: str, names: str, tmp_path: Path) -> None:
    with up(tmp_path) as found:
        victim = next(one for one in found.family if any(word in part for part in one.cmdline()))
        victim.send_signal(signal.SIGKILL)
        _, said = found.process.communicate(timeout=60)
        assert found.process.returncode == 1
        last = said.strip().splitlines()[-1]
        assert names in last and "ended by itself (killed by signal 9)" in last, said
        log = last.partition("its log is ")[2].partition(";")[0]
        assert Path(log).is_file() and tmp_path in Path(log).parents
        assert "Traceback" not in said
        assert [one for one in found.family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
