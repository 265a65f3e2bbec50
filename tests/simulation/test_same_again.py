"""One seed is one run: in another process, with other hashes of strings, to the last byte of the record."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import structlog

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate


def simulated(seed: int, profile: str, hash_seed: str, *more: str) -> Any:
    command = [sys.executable, "-m", "fairway.cli.main", "simulate", "--seed", str(seed), "--profile", profile]
    command += ["--hours", "0.1", "--jobs", "12", "-o", "json", *more]
    done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, check=True)
    return {key: value for key, value in json.loads(done.stdout).items() if key != "seconds"}


@pytest.mark.parametrize(("profile", "more"), [("rough", ()), ("hostile", ()), ("rough", ("--idle",))])
def test_a_seed_replays_exactly_whatever_the_hashes(profile: str, more: tuple[str, ...]) -> None:
    first, second = (simulated(3, profile, hash_seed, *more) for hash_seed in ("1", "2"))
    assert first == second
    assert first["steps"] > 1_000
    assert simulated(4, profile, "1", *more)["state_hash"] != first["state_hash"]


def test_a_run_leaves_the_logging_of_its_process_as_it_was() -> None:
    before = structlog.get_config()
    simulate(RunPlan(0, hours=0.01, jobs=1))
    assert structlog.get_config() == before
