"""Fleets whose jobs name ConfigMaps and Secrets of the hub: in the end they are with the jobs that need them, and
nowhere else."""

import pytest

from fairway.domain.decision import Call
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.propagator.member_companions import Along, Companions
from fairway.runtime.cluster_port import Cluster
from fairway.workloads.companions import sent
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 5)))
SEEDS = {"calm": 3, "rough": 5, "hostile": 3}


def plan(seed: int, profile: str = "rough") -> RunPlan:
    return RunPlan(seed, 0.1, profile=profile, jobs=18, hub=True, companions=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SEEDS)
def test_they_are_where_their_jobs_are_and_nowhere_else(profile: str, piece: int) -> None:
    changes = 0
    for seed in range(piece * SEEDS[profile], (piece + 1) * SEEDS[profile]):
        outcome = simulate(plan(seed, profile))
        assert not outcome.violations, told(outcome)
        changes += outcome.drawn.get("hub_change", 0)
    assert changes


async def no_word(self: Companions, cluster: Cluster, call: Call, along: Along, uid: str) -> None:
    """The anchor is never given to the attempt's object."""


async def no_end(self: Companions, cluster: Cluster, call: Call) -> None:
    """What an attempt left that was never applied stays."""


def no_owner(there: sent.Json, wanted: sent.Json) -> list[sent.Json]:
    """Who comes later takes the place of who was there before."""
    return list(wanted["metadata"]["ownerReferences"])


def hears_all(key: bytes, kind: str, kept: sent.Json) -> str:
    """The record has what a Secret holds."""
    return str(kept)


FAULTS = {
    "nobody owns them": [(Companions, "bind", no_word), (Companions, "forget", no_end)],
    "a recall leaves them": [(Companions, "forget", no_end)],
    "an owner is lost": [(sent, "owners_of", no_owner)],
    "they are in the record": [(sent, "digest", hears_all)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_found_when(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, other in FAULTS[fault]:
        monkeypatch.setattr(where, name, other)
    # Little goes wrong between the first call for an attempt and the last where not much does.
    outcomes = (simulate(plan(seed, "hostile")) for seed in range(20))
    assert any({one.rule for one in outcome.violations} & {"companion", "secret"} for outcome in outcomes)
