"""The agent's benchmark counts right: it is run small, on servers of its own, and no time is looked at."""

from pathlib import Path

import pytest

from fairway.lab.bench.agent.measure import GOALS, measure
from fairway.lab.bench.runs import AgentRun


@pytest.mark.slow
async def test_every_node_and_pod_is_counted_once_and_every_change_is_told(tmp_path: Path) -> None:
    run = AgentRun(nodes=20, pods=60, events=20, seconds=2)
    outcome = await measure(run, tmp_path, lambda phase, amount: None)
    assert outcome.counts == {
        "nodes_at_start": 20,
        "pods_at_start": 60,
        "nodes_twice": 0,
        "nodes_at_end": 20,
        "pods_at_end": 60,
        "never_reported": 0,
    }
    assert outcome.details["changes_measured"] >= run.events * run.seconds / 2
    assert set(GOALS) <= set(outcome.figures)
