"""propagator: an object is changed in place, first by the call, then by what its outcome means."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.propagator.calls import Adjusted, Adjustment, copy_of
from fairway.propagator.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, failing, queued, reserved, running, spec
from tests.spec.builders.views import events, of, told, verbs

NOW = T0 + 60 * S
NONE, FIRST, SECOND, THIRD = (wire.ManifestRef(number, str(number) * 64, 20) for number in (3, 5, 7, 9))
WHY = Reason(Code.JOB_FAILED, "exit code 1")
Given = Callable[[], Life]


def runs() -> Life:
    return running(manifest=FIRST)


def adjust(manifest: wire.ManifestRef = SECOND, *outcomes: Outcome, **more: Any) -> Heard:
    said = {"attempt": 1, "cluster": "c1", "spec": spec(pods=2, manifest=manifest), **more}
    return told(wire.Adjust(job="llm-1", tenant="team-a", **said), outcomes=outcomes)


def call(life: Life, before: wire.ManifestRef, after: wire.ManifestRef) -> Call:
    return Call("adjust", "c1", "llm-1", 1, Adjustment(copy_of(life.now, manifest=before), after))


def done(before: wire.ManifestRef = FIRST, after: wire.ManifestRef = SECOND, code: str | None = None) -> Outcome:
    made = msgspec.structs.replace(call(runs(), before, after), body=None)
    return Outcome(made, code is None, code or "", "as it says", Adjusted(before, after) if code is None else None)


def changed(life: Life, manifest: wire.ManifestRef) -> Life:
    return life.then(wire.Amended, spec=spec(manifest=manifest), cluster="c1")


@pytest.mark.parametrize(
    "life", [runs, lambda: reserved(manifest=FIRST).then(wire.Dispatched, cluster="c1")], ids=["running", "dispatched"]
)
def test_first_the_call_with_both_manifests(life: Given) -> None:
    assert decide(of(life()), adjust(), NOW) == Decision(calls=(call(life(), FIRST, SECOND),))


def test_what_was_changed_holds_from_now_on() -> None:
    (said,) = events(decide(of(runs()), adjust(SECOND, done()), NOW))
    assert (said.verb, said.cluster, said.attempt, said.rev) == ("amended", "c1", 1, runs().now.rev + 1)
    assert said.spec == spec(pods=2, manifest=SECOND)


def test_no_answer_is_asked_again() -> None:
    assert decide(of(runs()), adjust(SECOND, done(code="")), NOW) == Decision(again_in=1_000)


def test_a_refusal_is_told_in_the_words_of_the_cluster_and_the_job_runs_on() -> None:
    decision = decide(of(runs()), adjust(SECOND, done(code="Invalid")), NOW)
    (said,) = events(decision)
    assert (said.verb, said.rev, said.why.code, said.digest) == ("unchanged", 0, Code.APPLY_REFUSED, SECOND.sha256)
    assert said.why.text == "c1 refused the change: as it says"
    assert not decision.steps[0].writes


OVER = {
    "it failed, and waits": lambda: failing(runs()),
    "it runs in another cluster": runs,
    "it is being removed": lambda: runs().then(wire.Recall, cluster="c1", why=WHY),
}


@pytest.mark.parametrize("case", OVER)
def test_an_attempt_that_is_over_is_not_changed_and_that_is_told(case: str) -> None:
    more = {"cluster": "c2"} if case == "it runs in another cluster" else {}
    (said,) = events(decide(of(OVER[case]()), adjust(**more), NOW))
    assert (said.verb, said.why.code) == ("unchanged", Code.OVERTAKEN)
    assert said.why.text.startswith(f"attempt 1 in {more.get('cluster', 'c1')} was over")


NO_NEWS: dict[str, Given] = {
    "the job has ended": lambda: runs().then(wire.Succeeded, cluster="c1"),
    "it is being cancelled": lambda: runs().then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "by ann")),
    "it was said before": lambda: changed(runs(), SECOND),
    "a later manifest counts": lambda: changed(runs(), THIRD),
    "a later manifest counts where it waits": lambda: queued(manifest=THIRD),
}


@pytest.mark.parametrize("case", NO_NEWS)
def test_there_is_nothing_to_do(case: str) -> None:
    assert decide(of(NO_NEWS[case]()), adjust(), NOW) == NOTHING


def test_nobody_knows_the_job() -> None:
    assert decide(of(), adjust(), NOW) == NOTHING


def test_a_change_between_the_call_and_its_outcome_is_worked_in() -> None:
    """Where both differ from what was there before, the last call must not be the first one."""
    life = changed(running(manifest=NONE), FIRST)
    decision = decide(of(life), adjust(SECOND, done(NONE, SECOND)), NOW)
    assert decision == Decision(calls=(call(life, FIRST, SECOND),))
    both = adjust(SECOND, done(NONE, SECOND), done(FIRST, SECOND))
    assert verbs(decide(of(life), both, NOW)) == ["amended"]


def test_an_older_change_that_came_through_last_is_put_right() -> None:
    life = changed(runs(), THIRD)
    late = adjust(SECOND, done(FIRST, SECOND))
    assert decide(of(life), late, NOW) == Decision(calls=(call(life, SECOND, THIRD),))
    assert decide(of(life), adjust(SECOND, done(FIRST, SECOND), done(SECOND, THIRD)), NOW) == NOTHING


def test_the_same_refusal_twice_is_said_once() -> None:
    heard = adjust(SECOND, done(code="Invalid"))
    ids = [
        say.id
        for one in (heard, msgspec.structs.replace(heard, delivered=2))
        for step in decide(of(runs()), one, NOW).steps
        for say in step.events
    ]
    assert len(ids) == 2 and len(set(ids)) == 1
