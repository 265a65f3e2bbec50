"""Kinds that an operator declares in YAML are read like those Fairway knows; in a process of its own, as they last."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

EXAMPLES = ROOT / "deploy" / "examples"
SERVING = EXAMPLES / "cloneset.yaml"


def dry_run(folder: Path | None, *files: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "FAIRWAY_KINDS_DIR": str(folder) if folder else ""}
    given = [part for file in files for part in ("-f", str(file))]
    command = [sys.executable, "-m", "fairway.cli.main", "submit", "--dry-run", "-o", "json", *given]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_declared_kind_is_accepted_with_its_pod_sets() -> None:
    done = dry_run(EXAMPLES / "kinds", SERVING)
    assert done.returncode == 0, done.stderr
    (entry,) = [one for one in json.loads(done.stdout) if one["kind"] == "CloneSet"]
    assert entry["accepted"] is True
    assert [pods["name"] for pods in entry["pod_sets"]] == ["server"]


def test_without_its_declaration_the_kind_is_unknown() -> None:
    done = dry_run(None, SERVING)
    assert done.returncode == 4
    assert "UnknownKind" in done.stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("kind: [", "broken.yaml", id="text that is no YAML"),
        pytest.param("apiVersion: batch/v1\nkind: Job\nplural: jobs\n", "broken.yaml", id="a kind without pod sets"),
        pytest.param(
            "apiVersion: batch/v1\nkind: Job\nplural: jobs\npodSets:\n- {name: a, count: [spec.replicas], "
            "template: [spec.template]}\nstatus: {running: [{condition: X}]}\n",
            "known already",
            id="a kind that Fairway knows",
        ),
    ],
)
def test_a_wrong_declaration_stops_the_start_and_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "broken.yaml").write_text(text)
    done = dry_run(tmp_path, SERVING)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    done = dry_run(tmp_path / "nowhere", SERVING)
    assert done.returncode == 2
    assert "is no folder" in done.stderr
