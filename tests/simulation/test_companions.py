"""Fleets whose jobs name ConfigMaps and Secrets of the hub: in the end they are with the jobs that need them, and
nowhere else."""

from base64 import b64decode
from typing import Any

import pytest

from fairway.domain.decision import Call
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.propagator import member_calls
from fairway.propagator.companions.member_companions import Along, Companions
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Unreachable
from fairway.workloads.companions import sent
from fairway.workloads.companions.named import SECRET, Named
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 5)))
SEEDS = {"calm": 3, "rough": 5, "hostile": 3}


def plan(seed: int, profile: str, recorded: bool = False) -> RunPlan:
    """`recorded`: with something in the stream VIEWS."""
    return RunPlan(seed, 0.1, profile=profile, jobs=18, hub=True, companions=True, replay=recorded)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SEEDS)
def test_they_are_where_their_jobs_are_and_nowhere_else(profile: str, piece: int) -> None:
    changes = 0
    for seed in range(piece * SEEDS[profile], (piece + 1) * SEEDS[profile]):
        outcome = simulate(plan(seed, profile, recorded=profile == "hostile"))
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


FAULTS = {
    "nobody owns them": [(Companions, "bind", no_word), (Companions, "forget", no_end)],
    "a recall leaves them": [(Companions, "forget", no_end)],
    "an owner is lost": [(sent, "owners_of", no_owner)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_found_when(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, other in FAULTS[fault]:
        monkeypatch.setattr(where, name, other)
    # Little goes wrong between the first call for an attempt and the last where not much does.
    outcomes = (simulate(plan(seed, "hostile")) for seed in range(20))
    assert any("companion" in {one.rule for one in outcome.violations} for outcome in outcomes)


def as_it_is(key: bytes, kind: str, kept: sent.Json) -> str:
    """The record has what an object holds."""
    return str(kept)


def decoded(key: bytes, kind: str, kept: sent.Json) -> str:
    """The record has what a Secret means."""
    text = kept.get("data", {}).get("canary", "")
    return b64decode(text).decode() if kind == SECRET else text


class TalkativeCalls(Companions):
    """One call in each life of a process is done and not answered, and its words hold what was sent: the record says
    nothing of such a call."""

    def __init__(self, hub: Cluster | None, key: bytes) -> None:
        super().__init__(hub, key)
        self._silent = True

    async def _put(self, cluster: Cluster, one: Named, wanted: sent.Json) -> str:
        done = await super()._put(cluster, one, wanted)
        if one.kind == SECRET and self._silent:
            self._silent = False
            raise Unreachable(decoded(b"", one.kind, wanted))
        return done


LEAKS: dict[str, tuple[Any, str, Any, set[str]]] = {
    "it is in the record": (sent, "digest", as_it_is, {"JOBS"}),
    "it is in the record, decoded": (sent, "digest", decoded, {"JOBS"}),
    "it is in what a stage saw, decoded": (member_calls, "Companions", TalkativeCalls, {"VIEWS"}),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_what_a_secret_holds_is_found_where(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, other, streams = LEAKS[leak]
    monkeypatch.setattr(where, name, other)
    outcomes = (simulate(plan(seed, "hostile", recorded=True)) for seed in range(20))
    broken = (outcome.violations for outcome in outcomes if outcome.violations)
    said = {one.text for one in next(broken)}
    assert {f"what a Secret holds is in stream {stream}" for stream in streams} <= said, said
