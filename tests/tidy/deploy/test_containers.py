"""docker-compose.yml, as far as it can be held to account where no container engine runs."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from fairway.cli.main import app
from fairway.gateway.callers.keys import read_keys
from fairway.process.settings import from_environment
from fairway.process.wiring import WITH_MEMBERS
from tests.tidy.deploy.test_image import COPIED, STAGES
from tests.tidy.source import CODE, ROOT

SERVICES = [
    *("inbound", "admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher"),
    *("agent", "hub", "gateway", "keeper"),
]
SETTINGS = {
    *("FAIRWAY_NATS_URL", "FAIRWAY_REDIS_URL", "FAIRWAY_HTTP_HOST", "FAIRWAY_HTTP_PORT"),
    *("FAIRWAY_METRICS_HOST", "FAIRWAY_METRICS_PORT", "FAIRWAY_CREDENTIALS_DIR"),
}
HUB = "FAIRWAY_HUB_KUBECONFIG"
MEMBERS = "FAIRWAY_CLUSTERS_DIR"
KEY = "FAIRWAY_HTTP_KEY_FILE"
# Which credentials of clusters a container needs: what the process of that name opens (process/wiring.py).
BOTH = {HUB, MEMBERS}
CREDENTIALS = {"hub": {HUB}, "gateway": {HUB}, "agent": BOTH, "propagator": BOTH, "watcher": BOTH}
# Whose kubeconfig of the hub it is given, by the variable of who runs compose; without it, that of the service hub.
_CLUSTERS = dict.fromkeys(WITH_MEMBERS, "FAIRWAY_CLUSTERS_KUBECONFIG")
GIVEN = {"hub": HUB, "gateway": "FAIRWAY_GATEWAY_KUBECONFIG"} | _CLUSTERS
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def _ours() -> dict[str, dict[str, Any]]:
    return {name: s for name, s in COMPOSE["services"].items() if name in SERVICES}


def test_there_is_one_container_for_each_service_beside_the_servers_and_those_that_prepare_and_end() -> None:
    assert list(COMPOSE["services"]) == ["nats", "redis", "key", "credentials", "setup", *SERVICES]


def _credentials(name: str) -> list[tuple[str, str]]:
    """Which part of the volume of credentials a container sees, and where."""
    volumes = [one for one in COMPOSE["services"][name].get("volumes", []) if isinstance(one, dict)]
    assert all(one["source"] == "credentials" and one["read_only"] for one in volumes)
    return [(one["volume"]["subpath"], one["target"]) for one in volumes]


def test_a_container_sees_its_own_credential_alone() -> None:
    where = COMPOSE["x-fairway"]["environment"]["FAIRWAY_CREDENTIALS_DIR"]
    for name in (*SERVICES, "setup"):
        assert _credentials(name) == [(name, where)]
    assert (_credentials("nats"), _credentials("redis"), _credentials("key")) == (
        [("nats", "/etc/nats/credentials")],
        [("valkey", "/etc/valkey/credentials")],
        [],
    )
    assert 'include "credentials/services.conf"' in (ROOT / "deploy/nats/nats.conf").read_text()
    assert "aclfile /etc/valkey/credentials/users.acl" in (ROOT / "deploy/valkey/valkey.conf").read_text()


def test_the_credentials_that_compose_makes_are_those_that_the_containers_look_for(tmp_path: Path) -> None:
    verb, folder = COMPOSE["services"]["credentials"]["command"]
    assert (verb, COMPOSE["services"]["credentials"]["volumes"]) == ("credentials", [f"credentials:{folder}"])
    assert f"mkdir -p {folder} && chown 10001:10001 {folder}" in (ROOT / "deploy/Dockerfile").read_text()
    done = CliRunner().invoke(app, [verb, str(tmp_path / "made")])
    assert done.exit_code == 0, done.output
    wanted = {part for name in COMPOSE["services"] for part, _ in _credentials(name)}
    assert wanted <= {one.name for one in (tmp_path / "made").iterdir()}


def test_the_streams_are_made_before_any_service_starts() -> None:
    assert COMPOSE["services"]["setup"]["command"] == ["setup"]
    wanted = {"condition": "service_completed_successfully"}
    assert all(service["depends_on"]["setup"] == wanted for service in _ours().values())
    assert COMPOSE["services"]["nats"]["depends_on"] == {"credentials": wanted}


def test_every_service_of_the_pipeline_has_a_container() -> None:
    built = {p.parent.name.replace("_", "-") for p in ROOT.glob("services/fairway/*/service.py")}
    assert built <= set(SERVICES)


def test_manifests_are_kept_for_ever_unless_somebody_asks_for_the_keeper() -> None:
    assert [name for name, service in _ours().items() if "profiles" in service] == ["keeper"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_differs_from_the_others_in_its_argument_only(name: str) -> None:
    service = _ours()[name]
    assert service["command"][:2] == ["run", name]
    own = ("command", "ports", "environment", "volumes", "depends_on", "profiles")
    common = {k: v for k, v in COMPOSE["x-fairway"].items() if k not in own}
    assert {k: v for k, v in service.items() if k not in own} == common
    key = {"key": {"condition": "service_completed_successfully"}} if name == "gateway" else {}
    assert service["depends_on"] == COMPOSE["x-fairway"]["depends_on"] | key


def test_the_key_that_compose_makes_is_one_that_the_gateway_takes(tmp_path: Path) -> None:
    """As far as the command goes without its container: it changes no owner here."""
    (command,) = COMPOSE["services"]["key"]["command"]
    here = command.replace("/key/", f"{tmp_path}/").replace("chown 10001:10001", "test -s")
    made = []
    for _ in range(2):
        subprocess.run(["sh", "-c", here], check=True)
        made.append((tmp_path / "http.key").read_text())
    assert made[0] == made[1], "once"
    assert read_keys(str(tmp_path / "http.key")).hold(made[0].strip())


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_the_credentials_of_the_clusters_that_it_calls_and_no_others(name: str) -> None:
    """Any of nine containers was the way into every cluster."""
    service = _ours()[name]
    wanted = CREDENTIALS.get(name, set())
    own = {"gateway": {KEY}, "keeper": {"FAIRWAY_MANIFESTS_KEPT"}}.get(name, set())
    assert set(service["environment"]) == SETTINGS | wanted | own
    volumes = [one for one in service.get("volumes", []) if isinstance(one, str) and not one.startswith("key:")]
    mounted = dict(volume.removeprefix("${").rsplit(":", 2)[0:2] for volume in volumes)
    assert {host.partition(":")[0]: inside for host, inside in mounted.items()} == {
        GIVEN[name] if one == HUB else one: service["environment"][one] for one in wanted
    }
    assert all(HUB in host for host, inside in mounted.items() if inside.endswith("hub.kubeconfig"))
    assert all(one.endswith(":ro") for one in volumes)


def test_the_processes_that_call_clusters_are_the_containers_that_have_their_credentials() -> None:
    assert {name for name, found in CREDENTIALS.items() if MEMBERS in found} == WITH_MEMBERS
    assert set(CREDENTIALS) == WITH_MEMBERS | {"gateway", "hub"}


def test_ports_are_published_on_loopback_only() -> None:
    published = [port for s in COMPOSE["services"].values() for port in s.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_every_container_has_a_health_check() -> None:
    servers = [name for name, s in COMPOSE["services"].items() if "test" in s.get("healthcheck", {})]
    assert servers == ["nats", "redis"]
    assert "HEALTHCHECK" in STAGES[-1]  # of the one image, for all the others


def test_every_setting_that_the_containers_are_given_is_read() -> None:
    given = _ours()["agent"]["environment"]
    read = from_environment({**given, "FAIRWAY_REPLICAS": "1"})
    assert (read.nats_url, read.redis_url) == (given["FAIRWAY_NATS_URL"], given["FAIRWAY_REDIS_URL"])
    assert (read.http_host, read.http_port) == ("0.0.0.0", 8080)
    assert (read.metrics_host, read.metrics_port) == ("0.0.0.0", 9090)
    assert (read.hub_kubeconfig, read.clusters_dir) == ("/etc/fairway/hub.kubeconfig", "/etc/fairway/clusters")


def test_nobody_is_let_listen_without_asking_who_comes() -> None:
    assert [name for name, service in _ours().items() if "--insecure" in service["command"]] == []


def test_metrics_are_for_the_other_containers_only() -> None:
    """They ask nobody who comes: their port is not published."""
    published = [port for s in _ours().values() for port in s.get("ports", [])]
    metrics = COMPOSE["x-fairway"]["environment"]["FAIRWAY_METRICS_PORT"]
    assert [port for port in published if port.endswith(f":{metrics}")] == []


def test_every_file_that_is_mounted_or_built_from_exists() -> None:
    volumes = [v for s in COMPOSE["services"].values() for v in s.get("volumes", [])]
    mounted = [v.split(":")[0] for v in volumes if isinstance(v, str) and v.startswith("./")]
    built = [COMPOSE["x-fairway"]["build"]["dockerfile"]]
    assert len(mounted) == 2
    assert [path for path in (*mounted, *built, *(COPIED - set(CODE))) if not (ROOT / path).exists()] == []


@pytest.mark.skipif(
    shutil.which("docker") is None
    or subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode != 0,
    reason="docker compose is not installed here; the tests above read the file instead",
)
def test_docker_compose_accepts_the_file(tmp_path: Path) -> None:
    settings = {"FAIRWAY_HUB_KUBECONFIG": str(tmp_path), "FAIRWAY_CLUSTERS_DIR": str(tmp_path), "PATH": "/usr/bin"}
    command = ["docker", "compose", "-f", str(ROOT / "docker-compose.yml"), "config", "--quiet"]
    run = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
