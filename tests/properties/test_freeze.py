"""A frozen fleet gives nothing up, whatever is seen; once it has thawed, everything goes on that is due."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.attempts.eviction_freeze import SILENT_MS, Freeze, freeze
from fairway.domain.decision import Call, Outcome
from fairway.watcher.decide import Late, Listed, decide
from fairway.watcher.missing import Emptied
from fairway.watcher.object_checks import GONE, LOOK, STRIPPED
from fairway.watcher.object_owner import Observed
from fairway.wire import fleet
from tests.spec.builders.lives import T0, S, dispatched, running
from tests.spec.builders.views import Silent, of, told, verbs

NOW = T0 + 900 * S
SETTLE = 90_000
KIND = "PyTorchJob.kubeflow.org/v1"
FROZEN = Freeze(NOW - S, 2, 3)
_strand = fleet.Strand("llm-1", 1, "n1", "has been silent", 99)


def _observed(gone: bool, state: str) -> Observed:
    status = {"conditions": [{"type": state, "status": "True", "message": "m"}]}
    meta = {"name": "llm", "uid": "u-9"}
    body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "status": status}
    return Observed(job="llm-1", tenant="team-a", attempt=1, cluster="c1", kind=KIND, manifest=body, gone=gone)


_words: st.SearchStrategy[Any] = st.one_of(
    st.just(Late()),
    st.just(Emptied(cluster="c1")),
    st.just(fleet.Stranded(cluster="c1", attempts=(_strand,))),
    st.just(Listed(cluster="c1", kind=KIND, keys=frozenset())),
    st.builds(_observed, st.booleans(), st.sampled_from(["", "Running", "Succeeded", "Failed"])),
)
_answers = st.sampled_from([(Outcome(Call(LOOK, "c1", "llm-1", 1), True, body=one),) for one in (GONE, STRIPPED)])
_lives = st.sampled_from([dispatched, running])


@given(_words, _answers, _lives, st.integers(0, 2_000))
def test_a_frozen_fleet_gives_nothing_up_and_a_thawed_one_goes_on(
    word: Any, answer: Any, life: Any, after: int
) -> None:
    made = life(start_timeout=60 * S)
    now = NOW + after * S
    if not isinstance(word, Listed) and not getattr(word, "gone", False):
        answer = ()  # nothing was asked
    more = {"overdue": ["llm-1"], "held": {"c1": {"llm-1"}}}
    plain = decide(of(made, **more), told(word, outcomes=answer), now)
    frozen = decide(of(made, **more, silence=Silent(FROZEN, FROZEN)), told(word, outcomes=answer), now)
    assert "lost" not in verbs(frozen)
    if "lost" not in verbs(plain):
        assert frozen == plain
    else:  # nothing of it is forgotten: it is looked at again, or comes again by itself
        assert frozen.again_in or isinstance(word, Late | Emptied | fleet.Stranded)


_ages = st.lists(st.integers(0, 3 * SILENT_MS), max_size=12)


@given(st.lists(st.tuples(st.integers(1, 60_000), _ages), max_size=20), st.integers(1, 12))
def test_every_freeze_ends_once_all_report_again(looks: list[tuple[int, list[int]]], fleet_size: int) -> None:
    now = NOW
    present = None
    for step, ages in looks:
        now += step
        present = freeze(present, [now - age for age in ages], now, SETTLE)
        silent = sum(age > SILENT_MS for age in ages)
        assert present is not None or silent < 2 or 2 * silent <= len(ages)
    present = freeze(present, [now] * fleet_size, now, SETTLE)
    assert freeze(present, [now + SETTLE] * fleet_size, now + SETTLE, SETTLE) is None
