"""Tests that share what one file or one worker sets up for all of them are dealt to one worker (tests/dealing.py)."""

import re
import subprocess
import sys

import pytest

from tests.dealing import TOGETHER, group
from tests.tidy.source import ROOT

TESTS = ROOT / "tests"
# What one file's tests set up for all of them, and the servers of a worker: `own`, `kept` of tests/kubernetes/hub, and
# `idle` of tests/kubernetes/idle. `fleet` of tests/kubernetes is everybody's.
SHARED = re.compile(
    r'(?<!loop_)scope="(module|package|class)"'
    r"|\bown: Own\b|\bsettings_hub: Api\b|\bkept: HubFleet\b|\bidle: Idle\b"
)
# Whose tests have a fleet for all of them.
FLEETS = (TESTS / "kubernetes/troubles", TESTS / "kubernetes/evictions")


def test_every_file_whose_tests_share_servers_is_in_a_group_and_no_other() -> None:
    sharing = {
        path.relative_to(TESTS).with_suffix("").as_posix()
        for path in TESTS.rglob("test_*.py")
        if path.parent in FLEETS or SHARED.search(path.read_text())
    }
    assert set(TOGETHER) == sharing


def test_the_tests_on_real_kubernetes_can_be_read() -> None:
    """They run last, and should not be found broken only then."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "tests/kubernetes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    ("file", "want"),
    [
        pytest.param("kubernetes/simulator/test_contract", "servers", id="one of a group"),
        pytest.param("kubernetes/test_status", "servers", id="another of that group"),
        pytest.param("spec/process/test_settings", "spec/process/test_settings", id="a file of short tests"),
        pytest.param("tidy/test_house", "tidy/test_house", id="a file whose tests read every file"),
    ],
)
def test_the_tests_of_a_group_are_one_unit(file: str, want: str) -> None:
    assert {group(f"tests/{file}.py::test_it[{number}]") for number in "12"} == {want}


def test_each_other_test_is_one_by_itself() -> None:
    ids = [f"tests/kubernetes/test_kinds.py::test_it[{number}]" for number in "12"]
    assert [group(one) for one in ids] == ids
