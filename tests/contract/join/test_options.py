"""`fairway join` on the command line: what it prints, and what it refuses before it asks anybody."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.paths import ROOT
from tests.support.commands import command

Json = dict[str, Any]
RIGHTS = ROOT / "deploy" / "member" / "rights.yaml"


def test_a_dry_run_prints_the_rights_that_are_kept_in_deploy() -> None:
    """After a change of the kinds: `fairway join x --dry-run > deploy/member/rights.yaml`."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
    line = [sys.executable, "-m", "fairway.cli.main", "join", "anything", "--dry-run"]
    done = subprocess.run(line, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (0, RIGHTS.read_text())


@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        pytest.param("", ["restricted", "baseline"], id="nothing said"),
        pytest.param("restricted", ["restricted"], id="restricted"),
        pytest.param("privileged", ["restricted", "baseline", "privileged"], id="privileged"),
    ],
)
def test_the_policy_of_a_member_allows_no_level_above_the_one_that_was_said(level: str, allowed: list[str]) -> None:
    done = command("join", "anything", "--dry-run", *(("--max-pod-security", level) if level else ()))
    found = {one["metadata"]["name"]: one for one in yaml.safe_load_all(done.stdout) if one["kind"].endswith("Policy")}
    rules = found["fairway-member-namespaces"]["spec"]["validations"]
    assert [one for one in rules if f"in {allowed}" in one["expression"]] != []


def test_a_dry_run_with_a_class_for_pods_on_batch_resources_makes_none_and_names_that_one() -> None:
    done = command("join", "anything", "--dry-run", "--batch-priority-class", "idle")
    found = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(done.stdout)}
    assert [kind for kind, _ in found if kind in ("PriorityClass", "ClusterColocationProfile")] == [
        "ClusterColocationProfile"
    ]
    assert found["ClusterColocationProfile", "fairway-batch"]["spec"]["priorityClassName"] == "idle"
    rules = found["ValidatingAdmissionPolicy", "fairway-member-classes"]["spec"]["validations"]
    assert [one for one in rules if "in ['fairway-batch', 'idle']" in one["expression"]] != []


def config(user: Json, cluster: Json | None = None) -> Json:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "m", "user": "me"}}],
        "clusters": [{"name": "m", "cluster": {"server": "https://m1.example.org:6443", **(cluster or {})}}],
        "users": [{"name": "me", "user": user}],
    }


@pytest.mark.parametrize(
    ("user", "cluster", "cause", "remedy"),
    [
        pytest.param({"exec": {"command": "aws"}}, {}, "user.exec", "kubectl create token", id="a program to run"),
        pytest.param(
            {"auth-provider": {"name": "gcp"}}, {}, "user.auth-provider", "kubectl create token", id="an auth provider"
        ),
        pytest.param(
            {"token": "t"},
            {"certificate-authority": "/etc/ca.crt"},
            "certificate-authority",
            "certificate-authority-data",
            id="a file elsewhere",
        ),
        pytest.param(
            {"token": "t"},
            {"insecure-skip-tls-verify": True},
            "insecure-skip-tls-verify",
            "certificate-authority-data",
            id="a server that is not verified",
        ),
        pytest.param({"token": "t"}, {"proxy-url": "http://p"}, "proxy-url", "own address", id="a proxy"),
        pytest.param(
            {"token": "t"}, {"server": "https://169.254.169.254"}, "link-local", "own address", id="a metadata service"
        ),
        pytest.param(
            {"token": "t"},
            {"server": "https://127.0.0.1:6443"},
            "this machine itself",
            "--allow-loopback",
            id="this machine",
        ),
    ],
)
def test_an_administrators_kubeconfig_with_this_is_refused_with_what_to_do(
    tmp_path: Path, user: Json, cluster: Json, cause: str, remedy: str
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config(user, cluster)))
    done = command("join", "north", "--kubeconfig", str(path), "--hub-kubeconfig", str(path))
    assert done.exit_code == 4
    assert cause in done.stderr and remedy in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        pytest.param(("North",), "cannot name a cluster", id="a name with a capital"),
        pytest.param(("a.b",), "cannot name a cluster", id="a name with a dot"),
        pytest.param(("north\n",), "cannot name a cluster", id="a name with a line end"),
        pytest.param(("north", "--labels", "gpu"), "is no label", id="a label without a value"),
        pytest.param(("north", "--taints", "a=b:Never"), "is no taint", id="a taint of an unknown effect"),
        pytest.param(("north", "--mode", "poll"), "push or pull", id="an unknown mode"),
        pytest.param(("north", "--reserve", "all"), "placeholders", id="an unknown way to hold room"),
        pytest.param(("north",), "--kubeconfig", id="no kubeconfig"),
        pytest.param(("north", "--max-pod-security", "high"), "baseline, privileged", id="a level of nobody"),
        pytest.param(("north", "--adopt-namespaces", "a,kube-system"), "kube-system is the system's", id="kube-system"),
        pytest.param(("north", "--adopt-namespaces", "fairway-system"), "the system's", id="Fairway's own namespace"),
        pytest.param(("north", "--adopt-namespaces", "A b"), "is no namespace", id="a namespace that cannot be"),
        pytest.param(("north", "--placeholder-image", "x' || 'a"), "names no image", id="an image that cannot be"),
        pytest.param(("north", "--batch-priority-class", "x'"), "no PriorityClass", id="a class that cannot be"),
        *(
            pytest.param(("north", "--renew", f"--{one}", text), f"goes without --{one}", id=f"--renew with --{one}")
            for one, text in {"labels": "a=b", "taints": "", "reserve": "auto", "mode": "push", "nodes": "9"}.items()
        ),
        pytest.param(("north", "--renew", "--dry-run"), "goes without --renew", id="a dry run of a renewal"),
        *(
            pytest.param(("north", "--confirm-capacity", *more), f"goes without {more[0]}", id=f"with {more[0]}")
            for more in (
                ("--renew",),
                ("--dry-run",),
                ("--nodes", "9"),
                ("--token-life", "24h"),
                ("--kinds", "Job"),
                ("--placeholder-image", "x"),
                ("--batch-priority-class", "x"),
                ("--adopt-namespaces", "a"),
            )
        ),
    ],
)
def test_words_that_make_no_sense_are_refused_by_name(args: tuple[str, ...], says: str) -> None:
    done = command("join", *args)
    assert done.exit_code == 2
    assert says in done.stderr
