"""`fairway up --real` keeps its secrets to itself, and its hub knows the same tenants as the simulated one."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kubernetes.support.fleet import Api, RealFleet, environment


def test_every_file_of_it_is_its_owners_alone(fleet: RealFleet) -> None:
    """Keys of API servers, tokens, what etcd and NATS have stored, logs: everything."""
    files = [path for path in fleet.dir.rglob("*") if path.is_file() and not path.is_symlink()]
    names = {path.name for path in files}
    assert {"tokens.csv", "sa.key", "apiserver.key", "tls.key", "fleet.json", "hub.kubeconfig"} <= names
    assert any("member" in path.parts for path in files), "what etcd has stored"
    found = {str(path): oct(mode) for path in files if (mode := _mode(path)) & 0o077}
    assert found == {}
    assert _mode(fleet.dir) == 0o700


def _mode(path: Path) -> int:
    """A file may be gone by now: etcd and NATS replace theirs."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0


def test_a_tenant_of_the_hub_has_its_namespace_and_no_other(fleet: RealFleet) -> None:
    api = Api("hub", fleet.dir / "tenants" / "team-vision.kubeconfig")
    pods = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "mine"}, "spec": {"template": {"spec": pods}}}
    tried = {
        "own": ("POST", "/apis/batch/v1/namespaces/team-vision/jobs", job),
        "another's": ("POST", "/apis/batch/v1/namespaces/team-data/jobs", job),
        "a queue": ("POST", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/kube-queue/queues", {}),
        "everybody's": ("GET", "/apis/batch/v1/jobs", None),
        "secrets": ("GET", "/api/v1/namespaces/fairway-system/secrets", None),
        "policies": ("GET", "/apis/policy.karmada.io/v1alpha1/namespaces/team-vision/propagationpolicies", None),
    }
    dry = {"dryRun": "All"}
    codes = {
        what: api.http.request(method, path, params=dry if body else {}, json=body).status_code
        for what, (method, path, body) in tried.items()
    }
    api.http.close()
    wanted = {"own": 201, "another's": 403, "a queue": 403, "everybody's": 403, "secrets": 403, "policies": 200}
    assert codes == wanted


def test_the_key_of_the_folder_is_the_hubs_administrators(fleet: RealFleet) -> None:
    facts = json.loads((fleet.dir / "fleet.json").read_bytes())
    config = json.loads((fleet.dir / "hub.kubeconfig").read_bytes())
    assert facts["token"] == config["users"][0]["user"]["token"]


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["etcd", "hub/kube-apiserver"])
def test_the_clusters_end_with_a_server_of_theirs_and_say_which(victim: str, tmp_path: Path) -> None:
    """`fairway up --real` ends with them; what would it be without its hub?"""
    config = tmp_path / "clusters.json"
    config.write_text(json.dumps({"clusters": [], "kubeconfigs": str(tmp_path), "dir": str(tmp_path / "kubernetes")}))
    command = [sys.executable, "-m", "fairway.lab.kubereal", "--config", str(config)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True) as clusters:
        assert clusters.stdout is not None
        pids = json.loads(clusters.stdout.readline())["pids"]
        os.kill(pids[victim], signal.SIGKILL)
        _, said = clusters.communicate(timeout=60)
    assert clusters.returncode == 1
    last = said.strip().splitlines()[-1]
    assert last.startswith(f"{victim} ended by itself; its log is {tmp_path}"), said
    assert Path(last.rpartition("its log is ")[2]).is_file()
