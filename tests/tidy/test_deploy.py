"""The Dockerfile, docker-compose.yml and the servers' configurations, as far as they can be held to account
where no container engine runs."""

import re
import shutil
import subprocess
import tomllib
from collections.abc import MutableMapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.gateway.callers.keys import read_keys
from fairway.lab.processes.embedded_servers import nats_program, valkey_program
from fairway.process.main import Process
from fairway.process.settings import Settings, from_environment
from fairway.process.wiring import WITH_MEMBERS
from tests.tidy.source import CODE, ROOT

SERVICES = [
    *("inbound", "admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher"),
    *("agent", "hub", "gateway"),
]
SETTINGS = {
    *("FAIRWAY_NATS_URL", "FAIRWAY_REDIS_URL", "FAIRWAY_HTTP_HOST", "FAIRWAY_HTTP_PORT"),
    *("FAIRWAY_METRICS_HOST", "FAIRWAY_METRICS_PORT"),
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
ACCOUNTS = {"fairway-hub", "fairway-gateway", "fairway-clusters"}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = re.sub(r"\\\n\s*", " ", (ROOT / "deploy/Dockerfile").read_text())
STAGES = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
COPIED = {word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}


def _ours() -> dict[str, dict[str, Any]]:
    return {name: s for name, s in COMPOSE["services"].items() if name in SERVICES}


def test_there_is_one_container_for_each_service_beside_nats_and_redis_and_the_one_that_makes_a_key() -> None:
    assert list(COMPOSE["services"]) == ["nats", "redis", "key", *SERVICES]


def test_every_service_of_the_pipeline_has_a_container() -> None:
    built = {p.parent.name.replace("_", "-") for p in ROOT.glob("services/fairway/*/service.py")}
    assert built <= set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_differs_from_the_others_in_its_argument_only(name: str) -> None:
    service = _ours()[name]
    assert service["command"][:2] == ["run", name]
    own = ("command", "ports", "environment", "volumes", "depends_on")
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
    own = {KEY} if name == "gateway" else set()
    assert set(service["environment"]) == SETTINGS | wanted | own
    volumes = [volume for volume in service.get("volumes", []) if not volume.startswith("key:")]
    mounted = dict(volume.removeprefix("${").rsplit(":", 2)[0:2] for volume in volumes)
    assert {host.partition(":")[0]: inside for host, inside in mounted.items()} == {
        GIVEN[name] if one == HUB else one: service["environment"][one] for one in wanted
    }
    assert all(HUB in host for host, inside in mounted.items() if inside.endswith("hub.kubeconfig"))
    assert all(volume.endswith(":ro") for volume in service.get("volumes", []))


def test_the_processes_that_call_clusters_are_the_containers_that_have_their_credentials() -> None:
    assert {name for name, found in CREDENTIALS.items() if MEMBERS in found} == WITH_MEMBERS
    assert set(CREDENTIALS) == WITH_MEMBERS | {"gateway", "hub"}


def _rights() -> dict[str, set[tuple[str, str, str]]]:
    """Of each account on the hub: group, resource and verb."""
    found = list(yaml.safe_load_all((ROOT / "deploy/hub/rights.yaml").read_text()))
    roles = {(one["kind"], one["metadata"]["name"]): one["rules"] for one in found if "rules" in one}
    rights: dict[str, set[tuple[str, str, str]]] = {}
    for one in found:
        for subject in one.get("subjects", []):
            for rule in roles[one["roleRef"]["kind"], one["roleRef"]["name"]]:
                each = product(rule["apiGroups"], rule["resources"], rule["verbs"])
                rights.setdefault(subject["name"], set()).update(each)
    return rights


def test_each_account_on_the_hub_has_what_its_processes_do_there_and_one_has_it_all() -> None:
    rights = _rights()
    assert set(rights) == {*ACCOUNTS, "fairway", "system:authenticated"}
    assert rights["fairway"] == set().union(*(rights[name] for name in ACCOUNTS))
    of = {name: {(resource, verb) for _, resource, verb in rights[name]} for name in ACCOUNTS}
    for whose, alone in {
        "fairway-hub": [
            ("jobs", "list"),
            ("jobs/status", "patch"),
            ("events", "create"),
            ("resourcebindings", "patch"),
        ],
        "fairway-gateway": [("tokenreviews", "create"), ("queues", "create"), ("configmaps", "create")],
        "fairway-clusters": [("secrets", "list")],
    }.items():
        assert [{name for name in ACCOUNTS if right in of[name]} for right in alone] == [{whose}] * len(alone)


def test_ports_are_published_on_loopback_only() -> None:
    published = [port for s in COMPOSE["services"].values() for port in s.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_every_container_has_a_health_check() -> None:
    servers = [name for name, s in COMPOSE["services"].items() if name not in SERVICES and "healthcheck" in s]
    assert servers == ["nats", "redis"]
    assert "HEALTHCHECK" in STAGES[-1]  # of the one image, for all the others


async def test_the_health_check_of_the_image_asks_what_a_process_answers() -> None:
    """Before it has a bus: whoever waits for one is alive."""
    (path,) = re.findall(r"HEALTHCHECK.*\+ '(/\w+)'", DOCKERFILE)
    said: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    await Process(("admission",), Settings())(scope, receive, send)
    assert said[0]["status"] == 200


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
    mounted = [v.split(":")[0] for v in volumes if v.startswith("./")]
    built = [COMPOSE["x-fairway"]["build"]["dockerfile"]]
    assert len(mounted) == 2
    assert [path for path in (*mounted, *built, *(COPIED - set(CODE))) if not (ROOT / path).exists()] == []


def test_the_image_is_built_from_every_root_of_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert set(build["targets"]["wheel"]["sources"]) == set(build["dev-mode-dirs"]) == set(CODE)
    assert set(CODE) <= COPIED


def test_what_the_image_copies_passes_the_dockerignore() -> None:
    allowed = re.findall(r"^!(.+)$", (ROOT / "deploy/Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert set(allowed) == COPIED


@pytest.mark.parametrize(
    ("stage", "pattern", "want"),
    [
        pytest.param(0, r"^python:3\.11-slim AS build$", True, id="it is built on the slim image"),
        pytest.param(-1, r"^python:3\.11-slim$", True, id="it runs on the slim image"),
        pytest.param(-1, r"^USER (?!0)\d+:\d+$", True, id="it does not run as root"),
        pytest.param(-1, r'^ENTRYPOINT \["fairway"\]$', True, id="its entry point is the command"),
        pytest.param(-1, r"apt-get|gcc|hatchling|pip install", False, id="no build tool in what runs"),
        pytest.param(-1, r"^COPY (?!--from=build)", False, id="it takes from the build stage only"),
        pytest.param(0, r"^ENV PIP_CONSTRAINT=/src/constraints\.txt", True, id="everything is pinned"),
        pytest.param(0, r":latest|^ADD ", False, id="nothing floats"),
    ],
)
def test_the_dockerfile(stage: int, pattern: str, want: bool) -> None:
    assert bool(re.search(pattern, STAGES[stage], re.MULTILINE)) is want


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf"])
def test_nats_accepts_its_configuration(name: str, tmp_path: Path) -> None:
    command = [nats_program(), "-t", "-c", str(ROOT / "deploy" / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", ["local/nats.conf", "local/valkey.conf"])
def test_a_server_without_a_container_listens_on_loopback_only(name: str) -> None:
    """Neither asks who comes."""
    lines = (ROOT / "deploy" / name).read_text().splitlines()
    (listens,) = [line for line in lines if line.startswith(("listen", "bind"))]
    assert {word.strip('"').lstrip("-").partition(":4222")[0] for word in listens.split()[1:]} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("name", ["nats/nats.conf", "local/nats.conf", "local/nats-members.conf"])
def test_every_jetstream_takes_no_other_message_for_a_request(name: str) -> None:
    (block,) = re.findall(r"^jetstream \{\n(.*?)^\}", (ROOT / "deploy" / name).read_text(), re.DOTALL | re.MULTILINE)
    said = dict(re.findall(r"^  (\w+): (\S+)$", block, re.MULTILINE))
    assert said.pop("store_dir") and said == {"sync_interval": "always", "strict": "true"}


def test_the_nats_that_members_reach_asks_who_comes_and_is_encrypted() -> None:
    text = (ROOT / "deploy/local/nats-members.conf").read_text()
    assert re.search(r"^tls \{", text, re.MULTILINE) and 'include "../nats/members.conf"' in text


@pytest.mark.parametrize("name", ["redis/valkey.conf", "local/valkey.conf"])
def test_valkey_accepts_its_configuration_and_would_not_an_unknown_word(name: str, tmp_path: Path) -> None:
    """The second option is a word that Valkey does not know: all that comes before it was read and accepted."""
    config = tmp_path / "valkey.conf"
    config.write_text((ROOT / "deploy" / name).read_text() + "\nlast-word yes\n")
    run = subprocess.run([valkey_program(), str(config)], capture_output=True, text=True, check=False, timeout=10)
    assert run.returncode != 0
    assert ">>> 'last-word yes'" in run.stderr


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


def test_every_page_and_manifest_names_the_image_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "docker-compose.yml"]
    pages += [path for path in ROOT.glob("deploy/**/*") if path.is_file()]
    named = {tag for path in pages for tag in re.findall(r"\bfairway:(\d[\w.-]*)", path.read_text())}
    assert named == {version}
