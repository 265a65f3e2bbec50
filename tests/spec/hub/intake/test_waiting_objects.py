"""A job waits until a policy selects it; policies and jobs find each other by name, in any order."""

from dataclasses import dataclass
from typing import Any

import pytest

from fairway.hub.intake.waiting_objects import WaitingObjects
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.settings.policies import read_policy
from tests.spec.hub.hub_objects import CPP, ONE, job, policy

WIDE = f"{CPP}.policy.karmada.io/v1alpha1"


def put(room: WaitingObjects, one: HubObject) -> list[str]:
    return [found.name for found in room.put(read_policy(one.manifest), cleaned(one.manifest, keep_version=True))]


@dataclass
class Case:
    policy: HubObject
    job: HubObject
    selected: bool


CASES = {
    "by name": Case(policy("p", {"name": "train"}), job(), True),
    "by another name": Case(policy("p", {"name": "other"}), job(), False),
    "by one of two names": Case(policy("p", {"name": "other"}, {"name": "train"}), job(), True),
    "by kind": Case(policy("p", {}), job(), True),
    "by label": Case(policy("p", {"labelSelector": {"matchLabels": {"a": "b"}}}), job(labels={"a": "b"}), True),
    "by a label it lacks": Case(policy("p", {"labelSelector": {"matchLabels": {"a": "b"}}}), job(), False),
    "by name in another namespace": Case(policy("p", {"name": "train"}, namespace="team-b"), job(), False),
    "by kind in another namespace": Case(policy("p", {}, namespace="team-b"), job(), False),
    "cluster-wide by name": Case(policy("p", {"name": "train"}, namespace="", kind=WIDE), job(), True),
    "cluster-wide for a namespace": Case(policy("p", {"namespace": "team-a"}, namespace="", kind=WIDE), job(), True),
    "cluster-wide for another one": Case(policy("p", {"namespace": "team-b"}, namespace="", kind=WIDE), job(), False),
    "cluster-wide by name there": Case(
        policy("p", {"namespace": "team-a", "name": "train"}, namespace="", kind=WIDE), job(), True
    ),
    "of the other group": Case(policy("p", {"name": "train"}, kind=ONE), job(), True),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_job_that_comes_after_its_policy_finds_it(case: Case) -> None:
    room = WaitingObjects()
    put(room, case.policy)
    found = room.policy_for(case.job)
    assert found == ((cleaned(case.policy.manifest, keep_version=True),) if case.selected else found)
    assert isinstance(found, Reason) is not case.selected


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_job_that_comes_before_its_policy_is_released_by_it_once(case: Case) -> None:
    room = WaitingObjects()
    room.wait(case.job)
    assert put(room, case.policy) == (["train"] if case.selected else [])
    assert bool(room.waiting) is not case.selected
    assert put(room, case.policy) == []


def test_what_it_waits_for_is_told_with_a_policy_that_would_do() -> None:
    reason = WaitingObjects().policy_for(job())
    assert isinstance(reason, Reason)
    assert (reason.code, "name: train" in reason.remedy) == (Code.NO_POLICY, True)


def test_two_equal_policies_are_left_to_admission() -> None:
    room = WaitingObjects()
    put(room, policy("a", {"name": "train"}))
    put(room, policy("b", {"name": "train"}))
    assert room.policy_for(job()) == ()


def test_a_policy_that_changed_is_the_new_one_only() -> None:
    room = WaitingObjects()
    put(room, policy("p", {"name": "train"}))
    put(room, policy("p", {"name": "other"}))
    assert isinstance(room.policy_for(job()), Reason)
    room.drop(("PropagationPolicy", "team-a", "p"))
    assert isinstance(room.policy_for(job("other")), Reason)


def test_who_left_is_not_released() -> None:
    room = WaitingObjects()
    room.wait(job())
    room.leave(job().uid)
    assert put(room, policy("p", {"name": "train"})) == []


def test_a_job_that_lacks_a_setting_is_released_by_that_one_once_and_by_no_other() -> None:
    room = WaitingObjects()
    room.wait(job(), ("Queue", "gold"))
    assert [room.came(*other) for other in (("Queue", "silver"), ("PriorityClass", "gold"))] == [[], []]
    assert [one.name for one in room.came("Queue", "gold")] == ["train"]
    assert room.waiting == {}
    assert room.came("Queue", "gold") == []


def test_a_job_that_is_gone_is_released_by_nothing() -> None:
    room = WaitingObjects()
    room.wait(job(), ("Queue", "gold"))
    room.leave(job().uid)
    assert room.came("Queue", "gold") == []


def test_a_policy_of_a_namespace_looks_at_the_jobs_of_that_one_alone() -> None:
    """Ten thousand jobs of one tenant that wait are none of the others' business."""
    room = WaitingObjects()
    theirs = Unread(job("other", "team-b").manifest)
    room.wait(HubObject("Job.batch/v1", "team-b", "other", "u-b", theirs))
    room.wait(job())
    assert put(room, policy("p", {})) == ["train"]
    assert theirs.read == 0
    assert put(room, policy("q", {}, namespace="team-b")) == ["other"]


class Unread(dict[str, Any]):
    """A manifest that counts how often something of it is read."""

    read = 0

    def __getitem__(self, key: str) -> Any:
        self.read += 1
        return super().__getitem__(key)


def test_a_job_that_waits_for_two_settings_leaves_nothing_behind() -> None:
    room = WaitingObjects()
    room.wait(job(), ("Queue", "gold"))
    room.wait(job(), ("PriorityClass", "high"))
    room.wait(job())
    assert [one.name for one in room.came("PriorityClass", "high")] == ["train"]
    assert room.came("Queue", "gold") == []
    room.wait(job())
    assert room.came("Queue", "gold") == []
