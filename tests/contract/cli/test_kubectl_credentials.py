"""As a kubectl plugin: kubectl's own credential, to the gateway of the very hub that it is for, and nowhere else."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.credential_door import TOKEN, Door, kubeconfig, opened, process, run, script, token_file


@pytest.fixture
def door() -> Iterator[Door]:
    with opened() as found:
        yield found


@pytest.fixture
def other() -> Iterator[Door]:
    with opened() as found:
        yield found


HUB_SAYS = """
import os, subprocess, sys
words = " ".join(sys.argv[1:])
if "get configmap" in words:
    print(os.environ["PLATE"], end="")
else:
    sys.exit(subprocess.run([os.environ["REAL"], *sys.argv[1:]]).returncode)
"""


@pytest.fixture
def plugin(tmp_path: Path, door: Door, kubectl: Path) -> dict[str, str]:
    """The settings in which kubectl answers for a hub that says where the gateway is, and everything else by itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "kubectl", HUB_SAYS)
    script(tmp_path / "kubectl-fairway", "from fairway.cli.main import main\nmain()\n")
    return {"PATH": f"{folder}:{os.environ['PATH']}", "PLATE": door.url, "REAL": str(kubectl)}


@pytest.mark.parametrize("way", ["a token", "a token file", "a program"])
def test_kubectls_own_credential_goes_to_its_hubs_gateway(
    way: str, door: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    said = json.dumps({"kind": "ExecCredential", "status": {"token": TOKEN}})
    checked = "import os\nassert os.environ['KUBERNETES_EXEC_INFO'] and os.environ['A'] == 'b'\n"
    script(tmp_path / "login", f"{checked}print('''{said}''')")
    token_file(tmp_path)
    program = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./login",
        "interactiveMode": "Never",
        "env": [{"name": "A", "value": "b"}],
    }
    user = {"a token": {"token": TOKEN}, "a token file": {"tokenFile": "token"}, "a program": {"exec": program}}[way]
    begun = process if way == "a token" else run
    config = kubeconfig(tmp_path, user)
    code, told = begun(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, **plugin)
    assert (code, door.heard) == (0, [f"Bearer {TOKEN}"]), told


@pytest.mark.parametrize(
    ("user", "says"),
    [
        pytest.param({"client-certificate": "c", "client-key": "k"}, "client certificate", id="a certificate"),
        pytest.param({"token": TOKEN, "as": "jane"}, "acts as somebody else", id="one who speaks for another"),
        pytest.param({"username": "a", "password": "b"}, "no bearer token", id="a password"),
        pytest.param(
            {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "./none",
                    "interactiveMode": "Never",
                }
            },
            "gave no credential",
            id="a program that is not there",
        ),
    ],
)
def test_what_is_no_bearer_token_is_refused_with_how_to_make_one(
    user: dict[str, Any], says: str, door: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    config = kubeconfig(tmp_path, user)
    code, said = run(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, **plugin)
    assert (code, door.heard) == (4, []), said
    assert says in said and "kubectl create token NAME -n NAMESPACE --audience fairway" in said
    assert "--token-file" in said and "FAIRWAY_TOKEN_FILE" in said
    with_one = ("--token-file", token_file(tmp_path))
    assert run(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, *with_one, **plugin)[0] == 0
    assert door.heard == [f"Bearer {TOKEN}"]


def test_a_hub_elsewhere_that_names_this_machine_gets_no_credential(
    door: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    """Who may write its ConfigMap would otherwise have the token sent to whoever listens on a port here."""
    config = kubeconfig(tmp_path, {"token": TOKEN}, "https://hub.example:6443")
    code, said = run(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, **plugin)
    assert (code, door.heard) == (4, []) and "the hub is elsewhere" in said
    plugin["PLATE"] = "http://gateway.example"
    code, said = run(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, **plugin)
    assert code == 4 and "plain HTTP" in said


def test_an_address_of_the_environment_does_not_get_kubectls_credential(
    door: Door, other: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    """As a plugin without flags: FAIRWAY_URL is one fleet's, kubectl's current context may be anything."""
    (tmp_path / ".kube").mkdir()
    config = Path(kubeconfig(tmp_path, {"token": TOKEN}))
    config.rename(tmp_path / ".kube" / "config")
    assert run(tmp_path, "kubectl", "get", "jobs", "-A", FAIRWAY_URL=other.url, **plugin)[0] == 0
    assert (other.heard, door.heard) == ([None], [])


def test_to_an_address_that_was_named_goes_only_a_credential_that_was_named_with_it(
    door: Door, other: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    """`--url` with `--kubeconfig` is kubectl's `--server` with it. A KUBECONFIG of the environment may be anything."""
    config = kubeconfig(tmp_path, {"token": TOKEN})
    asking = ("kubectl", "get", "jobs", "-A", "--url", other.url)
    assert run(tmp_path, *asking, KUBECONFIG=config, **plugin)[0] == 0
    assert other.heard == [None]
    assert run(tmp_path, *asking, "--kubeconfig", config, **plugin)[0] == 0
    assert run(tmp_path, *asking, "--context", "c", KUBECONFIG=config, **plugin)[0] == 0
    assert other.heard[1:] == [f"Bearer {TOKEN}"] * 2
    assert run(tmp_path, *asking[:-2], KUBECONFIG=config, **plugin)[0] == 0
    assert door.heard == [f"Bearer {TOKEN}"], "its own hub's gateway"


def test_a_token_that_is_none_is_refused_and_shown_to_nobody(
    door: Door, plugin: dict[str, str], tmp_path: Path
) -> None:
    config = kubeconfig(tmp_path, {"token": f"{TOKEN}\nX: y"})
    code, said = run(tmp_path, "kubectl", "get", "jobs", "-A", "--kubeconfig", config, **plugin)
    assert (code, door.heard, TOKEN in said) == (4, [], False), said
    assert "no bearer token" in said and "kubectl create token" in said
