"""watcher: whose an object of a member is. Its labels alone say nothing: anybody writes those."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import NOTHING, Decision
from fairway.watcher.decide import decide
from fairway.watcher.object_checks import LOOK, ObjectLook
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.workloads.member_copy import job_labels
from tests.spec.builders.lives import T0, Life, S, dispatched, failing, reserved, running
from tests.spec.builders.views import events, of, told, verbs
from tests.spec.watcher.test_decide import listed, second, shows

NOW = T0 + 900 * S
KIND = "PyTorchJob.kubeflow.org/v1"
STATES = ("", "Up", "Succeeded", "Failed")


def foreign(seen: Any, **more: Any) -> Any:
    """The same sight of another object: `name` and `uid` are its own, everything else its message's."""
    meta = {key: more.pop(key) for key in ("name", "uid") if key in more}
    manifest = {**seen.message.manifest, "metadata": {**seen.message.manifest["metadata"], **meta}}
    return told(msgspec.structs.replace(seen.message, manifest=manifest, **more), outcomes=seen.outcomes)


OTHERS: dict[str, dict[str, Any]] = {
    "in another namespace": {"tenant": "team-evil"},
    "in another namespace, with its uid": {"tenant": "team-evil", "uid": "u-9"},
    "under another name": {"name": "llm-2"},
    "of another kind": {"kind": "Job.batch/v1"},
    "with another uid": {"uid": "u-evil"},
    "without a uid": {"uid": ""},
}
# Deleted, and made anew by somebody who has read its seal.
COPIED: dict[str, Any] = {"uid": "u-evil", "sealed": ("llm-1", 1)}
LIVES = {
    "dispatched": dispatched,
    "running": running,
    "succeeded": lambda: running().then(wire.Succeeded, cluster="c1"),
    "cancelled": lambda: running().then(wire.Cancelled),
}


@pytest.mark.parametrize("life", LIVES.values(), ids=list(LIVES))
@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_an_object_with_the_labels_of_a_job_says_nothing_of_it(life: Any, other: dict[str, Any]) -> None:
    for state in STATES:
        for gone in (False, True):
            assert decide(of(life()), foreign(shows(state, gone=gone, sealed=None), **other), NOW) == NOTHING


@pytest.mark.parametrize("life", [dispatched(), running()], ids=["dispatched", "running"])
def test_an_object_that_was_made_anew_with_a_copied_seal_says_nothing_either(life: Life) -> None:
    for state in STATES:
        assert decide(of(life), foreign(shows(state, sealed=None), **COPIED), NOW) == NOTHING


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_it_is_not_recalled_as_an_attempt_that_is_over_either(other: dict[str, Any]) -> None:
    assert decide(of(second(running())), foreign(shows("Up", sealed=None), **other), NOW) == NOTHING


def test_before_its_dispatch_is_known_the_seal_decides() -> None:
    assert decide(of(reserved()), foreign(shows("Failed", sealed=None), uid="u-evil"), NOW) == NOTHING
    assert decide(of(reserved()), foreign(shows("Failed"), uid="u-new"), NOW) == Decision(again_in=100)


def test_the_hub_is_told_the_status_of_the_attempts_own_object_alone() -> None:
    life = running(hub=wire.HubRef("h-1", "pytorchjobs"))
    for other in OTHERS.values():
        assert decide(of(life), foreign(shows("Up", sealed=None), **other), NOW) == NOTHING
    assert verbs(decide(of(life), shows("Up"), NOW)) == ["shown"]


def test_a_list_with_another_object_of_its_labels_does_not_show_that_it_is_there() -> None:
    life = running()
    held = {"c1": {"llm-1"}}
    gone = listed("llm-1/1")
    theirs = told(msgspec.structs.replace(gone.message, keys=frozenset({"llm-1/1 u-evil"})), outcomes=gone.outcomes)
    assert verbs(decide(of(life, held=held), theirs, NOW))[:1] == ["lost"]
    asked = decide(of(life, held=held), told(theirs.message), NOW).calls
    assert [(one.verb, one.body) for one in asked] == [(LOOK, ObjectLook(KIND, "team-a", "llm", "u-9"))]


def test_an_attempt_that_nobody_authorised_is_nobodys() -> None:
    """Its label was changed by hand, and there is no seal to tell better."""
    over = failing(running(attempts=1))
    assert decide(of(over), shows("Up", attempt=77, uid="u-late", sealed=None), NOW) == NOTHING
    assert decide(of(over), shows("Up", attempt=77, uid="u-late"), NOW) == NOTHING


def test_what_is_ours_by_its_uid_is_recalled_as_the_attempt_that_it_is_of() -> None:
    """Its label says 77; the record must not."""
    (said,) = events(decide(of(second(running())), shows("Up", attempt=77, sealed=None), NOW))
    assert (said.verb, said.attempt, said.cluster) == ("recall", 1, "c1")


def test_a_present_attempt_whose_labels_were_changed_is_looked_at() -> None:
    (asked,) = decide(of(running()), shows("Up", stripped=True), NOW).calls
    assert (asked.verb, asked.body) == (LOOK, ObjectLook(KIND, "team-a", "llm", "u-9"))


def by_fairway(seen: Any) -> Any:
    """As a version applied it that sealed nothing."""
    template = {"metadata": {"labels": job_labels("llm-1", 1)}}
    made = [{"manager": "fairway", "fieldsV1": {"f:spec": {}}}]
    more = {"metadata": {**seen.message.manifest["metadata"], "managedFields": made}}
    manifest = {**seen.message.manifest, **more, "spec": {"pytorchReplicaSpecs": {"Worker": {"template": template}}}}
    return told(msgspec.structs.replace(seen.message, manifest=manifest), outcomes=seen.outcomes)


def started(running: bool) -> Life:
    life = dispatched(uid="")
    return life.then(wire.Running, cluster="c1") if running else life


@pytest.mark.parametrize("life", [started(False), started(True)], ids=["dispatched", "running"])
def test_what_an_older_version_dispatched_is_adopted_once_and_then_its_uid_counts(life: Life) -> None:
    decided = decide(of(life), by_fairway(shows("Succeeded", sealed=None)), NOW)
    (said,) = events(decided)
    assert (said.verb, said.uid, said.adopted, decided.again_in) == ("dispatched", "u-9", True, 100)
    state = life.now.state
    after = Life("llm-1")
    after.job = life.now
    after.at = life.at
    after.then(wire.Dispatched, cluster="c1", uid=said.uid, adopted=True)
    assert (after.now.state, after.now.uid) == (state, "u-9")
    assert verbs(decide(of(after), by_fairway(shows("Succeeded", sealed=None)), NOW)) == ["succeeded"]
    assert decide(of(after), by_fairway(shows("Failed", sealed=None, uid="u-evil")), NOW) == NOTHING


def test_what_only_calls_itself_ours_is_not_adopted() -> None:
    for seen in (shows("Failed", sealed=None), foreign(by_fairway(shows("Failed", sealed=None)), tenant="team-evil")):
        assert decide(of(dispatched(uid="")), seen, NOW) == NOTHING


def strands(**more: Any) -> Any:
    one = fleet.Strand("llm-1", 1, "n1", "has not been ready", 90, **more.pop("strand", {}))
    return told(fleet.Stranded(cluster=more.pop("cluster", "c1"), attempts=(one,)))


def test_pods_of_another_namespace_strand_nobodys_job() -> None:
    assert decide(of(running()), strands(strand={"namespace": "team-evil"}), NOW) == NOTHING
    assert decide(of(running()), strands(cluster="west"), NOW) == NOTHING
    assert verbs(decide(of(running()), strands(strand={"namespace": "team-a"}), NOW))[:1] == ["lost"]
