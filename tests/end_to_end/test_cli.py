"""Every command once, on one fleet that `fairway up` keeps."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner, Result

from fairway.cli.main import app
from tests.paths import ROOT
from tests.support.commands import command

EXAMPLES = ROOT / "deploy" / "examples"
FAIRWAY = [sys.executable, "-m", "fairway.cli.main"]
START_S = 90


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which a fleet is up; afterwards nothing of it is left."""
    folder = tmp_path_factory.mktemp("up")
    with subprocess.Popen([*FAIRWAY, "up"], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        said = "".join(line for line, _ in zip(up.stdout, range(17), strict=False))
        assert "The fleet is up." in said and "hub.kubeconfig apply" in said, said
        family = psutil.Process(up.pid).children(recursive=True)
        yield folder
        up.send_signal(signal.SIGINT)
        assert up.wait(START_S) == 0
    assert [one for one in family if one.is_running()] == []


@pytest.fixture(autouse=True)
def here(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands find the fleet by the folder they are called in."""
    monkeypatch.chdir(fleet)
    monkeypatch.delenv("FAIRWAY_URL", raising=False)


def run(*words: str, given: str = "") -> Result:
    return CliRunner().invoke(app, list(words), input=given, env={"NO_COLOR": "1"})


def asked(*words: str) -> Any:
    done = run(*words, "-o", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def job(name: str, run_for: str = "1s", **metadata: str) -> str:
    """A Job of one pod with its policy, as JSON."""
    meta = {"name": name, "namespace": "tests"}
    pod = {
        "metadata": {"annotations": {"fairway.test/run-for": run_for, **metadata}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
    }
    selects = [{"apiVersion": "batch/v1", "kind": "Job", "name": name}]
    kinds = ("policy.karmada.io/v1alpha1", "PropagationPolicy")
    policy = {
        "apiVersion": kinds[0],
        "kind": kinds[1],
        "metadata": meta,
        "spec": {"resourceSelectors": selects, "placement": {}},
    }
    work = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"backoffLimit": 0, "template": pod}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [work, policy]})


def test_submit_and_wait_tells_the_end_and_the_questions_tell_how_it_came() -> None:
    done = run(
        "submit",
        "-f",
        str(EXAMPLES / "tfjob.yaml"),
        "-f",
        str(EXAMPLES / "priorityclasses.yaml"),
        "--wait",
        "-o",
        "json",
    )
    assert done.exit_code == 0, done.output
    found = {one["kind"]: one for one in json.loads(done.stdout)}
    assert found["TFJob"]["state"] == "succeeded" and found["TFJob"]["cluster"] == "north"
    assert "mnist: succeeded in north" in done.stderr

    (row,) = [one for one in asked("get", "jobs", "-n", "team-vision")["items"] if one["name"] == "mnist"]
    assert (row["id"], row["priority"]) == (found["TFJob"]["job"], 1000)
    assert "Succeeded" in run("why", "team-vision/mnist").stdout
    verbs = [line["what"] for line in asked("story", "mnist")["lines"]]
    assert verbs[:3] == ["submitted", "admitted", "queue"] and verbs[-1] == "succeeded"
    assert "Placed in north" in run("story", row["id"]).stdout


def test_lists_as_tables_names_yaml_and_json() -> None:
    lines = run("get", "clusters").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["CLUSTER", "north", "south", "west"]
    assert run("get", "clusters", "-o", "name").stdout.split() == ["north", "south", "west"]
    assert "ALLOCATABLE" in run("get", "clusters", "-o", "wide").stdout
    assert asked("get", "clusters", "north")["allocatable"]["nvidia.com/gpu"] == 32
    assert run("get", "quota").stdout.split() == [
        "QUOTA",
        "RESOURCE",
        "MIN",
        "USED",
        "BORROWED",
        "LENT",
        "MAX",
        "SHARE",
    ]
    assert run("get", "queues").stdout.startswith("QUEUE")
    assert run("get", "jobs", "-o", "yaml").stdout.startswith("items:")


def test_a_job_that_fails_ends_the_wait_with_ten() -> None:
    clusters = "north,south,west"
    given = job("unlucky", "100ms", **{"fairway.test/fail-in-cluster": clusters})
    done = run("submit", "-f", "-", "--wait", "--timeout", "60s", given=given)
    assert (done.exit_code, done.stdout.split()[0]) == (10, "failed"), done.output


def test_time_can_be_up_and_a_cancelled_job_ends_the_wait_with_eleven() -> None:
    late = run("submit", "-f", "-", "--wait", "--timeout", "100ms", "-o", "name", given=job("endless", "never"))
    assert late.exit_code == 5 and "endless" in late.stderr
    waiting = [*FAIRWAY, "submit", "-f", "-", "--wait", "--timeout", "60s"]
    pipe = subprocess.PIPE
    with subprocess.Popen(waiting, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment()) as other:
        assert other.stdin is not None and other.stderr is not None
        other.stdin.write(job("hopeless", "never"))
        other.stdin.close()
        assert "hopeless" in other.stderr.readline()
        assert "on its way" in run("cancel", "hopeless").stdout
        assert other.wait(60) == 11
    assert run("cancel", "endless").exit_code == 0
    assert "it has ended already" in run("cancel", "tests/hopeless").stdout


def test_a_refused_manifest_is_told_with_its_reasons_and_is_in_the_record() -> None:
    done = run("submit", "-f", "-", "-o", "json", given=job("no name at all"))
    (refused, policy) = json.loads(done.stdout)
    assert (done.exit_code, refused["reasons"][0]["field"]) == (4, "metadata.name")
    assert asked("get", "jobs", refused["job"])["state"] == "rejected"
    assert not policy["accepted"]


def test_the_same_name_twice_is_refused_while_the_first_one_lives() -> None:
    assert run("submit", "-f", "-", given=job("twin", "never")).exit_code == 0
    again = run("submit", "-f", "-", given=job("twin", "never"))
    assert again.exit_code == 4 and "is live already" in again.stdout
    assert run("cancel", "twin").exit_code == 0


def test_a_bad_quota_tree_is_refused_and_the_rest_goes_on() -> None:
    tree = (EXAMPLES / "tenants.yaml").read_text().replace("cpu: 384", "cpu: 9999")
    done = run("submit", "-f", "-", given=tree)
    assert done.exit_code == 4 and "quota root/research/research.vision" in done.stdout
    assert asked("get", "quota")["items"] == []


def _interruptible() -> None:
    """A shell that runs the tests in the background has its children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_watching_shows_a_job_again_when_it_changes() -> None:
    watch = [*FAIRWAY, "get", "jobs", "-w"]
    started = {"env": environment(), "preexec_fn": _interruptible}
    with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True, **started) as watching:
        assert watching.stdout is not None
        try:
            assert watching.stdout.readline().startswith("NAMESPACE")
            assert run("submit", "-f", "-", given=job("seen", "1s")).exit_code == 0
            for line in watching.stdout:
                if line.split()[1:4] == ["seen", "Job", "succeeded"]:
                    break
        finally:
            watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("why", "nobody"), 3, id="no such job"),
        pytest.param(("get", "clusters", "east"), 3, id="no such cluster"),
        pytest.param(("get", "pods"), 2, id="nothing that is listed"),
        pytest.param(("get", "queues", "-n", "a"), 2, id="queues have no namespace"),
        pytest.param(("get", "jobs", "-o", "xml"), 2, id="an unknown output"),
        pytest.param(("get", "jobs", "--url", "http://127.0.0.1:1"), 6, id="nobody there"),
        pytest.param(("get", "jobs", "--url", "127.0.0.1"), 2, id="no address"),
        pytest.param(("submit",), 2, id="no file"),
        pytest.param(("submit", "-f", "none.yaml"), 4, id="a file that is not there"),
    ],
)
def test_how_a_command_ends_when_it_does_not_end_well(words: tuple[str, ...], code: int) -> None:
    done = run(*words)
    assert (done.exit_code, "Traceback" in done.output) == (code, False), done.output


def test_a_second_fleet_in_the_same_folder_says_so(fleet: Path) -> None:
    second = subprocess.run(
        [*FAIRWAY, "up"], check=False, cwd=fleet, env=environment(), capture_output=True, text=True, timeout=60
    )
    assert (second.returncode, second.stdout) == (1, "")
    assert "a fleet is up in .fairway already" in second.stderr


@pytest.mark.parametrize(
    ("words", "settings", "says"),
    [
        pytest.param((), {"FAIRWAY_HUB_KUBECONFIG": ""}, "FAIRWAY_HTTP_KEY_FILE", id="neither a hub nor a key file"),
        pytest.param(("--insecure",), {}, "--insecure is gone", id="a flag of before"),
        pytest.param((), {"FAIRWAY_INSECURE": "1"}, "FAIRWAY_INSECURE is gone", id="a setting of before"),
    ],
)
def test_a_gateway_that_would_not_ask_who_comes_does_not_start(
    words: tuple[str, ...], settings: dict[str, str], says: str
) -> None:
    refused = command("run", "gateway", *words, **settings)
    assert (refused.exit_code, says in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize("beside", [(), ("inbound",)], ids=["alone", "beside another"])
def test_the_hubs_service_does_not_start_without_a_hub_and_names_the_setting(beside: tuple[str, ...]) -> None:
    refused = command("run", "hub", *beside, FAIRWAY_HUB_KUBECONFIG="")
    assert (refused.exit_code, "set FAIRWAY_HUB_KUBECONFIG" in refused.stderr) == (2, True), refused.stderr


def test_the_store_is_what_the_record_says_and_no_rule_was_broken() -> None:
    for name in ("audited-1", "audited-2"):
        assert run("submit", "-f", "-", "--wait", "--timeout", "60s", given=job(name)).exit_code == 0
    assert run("submit", "-f", "-", given=job("audited-3", "never")).exit_code == 0
    done = subprocess.run(
        [*FAIRWAY, "audit", "verify", "-o", "json"], env=environment(), capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert (found["drift"], found["unsettled"], found["breaches"]) == ([], [], []), done.stdout
    assert done.returncode == 0 and found["jobs"] >= 3
