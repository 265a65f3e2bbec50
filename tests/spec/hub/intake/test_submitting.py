"""What becomes of an object that was refused and edited, and what a process that begins anew submits once more."""

from typing import Any

import pytest

from fairway.domain.submission import digest_of
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import not_taken
from tests.spec.hub.hub_objects import JOB, job, policy, thing
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, TRAIN, brought, like, running

NO = Reason(Code.INVALID, "it asks for nothing")
BETTER = like(TRAIN, spec={"parallelism": 2})
FLOW = "Workflow.argoproj.io/v1alpha1"


def flow(**spec: Any) -> HubObject:
    return hub_object(FLOW, thing(FLOW, "train", spec={"entrypoint": "main", **spec}))


def flows() -> HubObject:
    return policy("flows", {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"})


def refused() -> HubDriver:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    one.refuse(TRAIN, NO)
    one.run(5_000)
    return one


def edited() -> HubDriver:
    """A workflow that was refused says something else, and is submitted once more."""
    one = HubDriver()
    one.apply(flows(), flow())
    one.run(MOMENT)
    one.refuse(flow(), NO)
    one.run(5_000)
    assert one.status(flow())["phase"] == "Failed"
    one.apply(flow(parallelism=2))
    one.run(2 * MOMENT)
    return one


def test_a_refused_object_fails_and_is_submitted_once_more_when_it_says_something_else() -> None:
    one = refused()
    assert one.events(TRAIN) == ["Rejected"]
    assert [each["type"] for each in one.status(TRAIN)["conditions"]] == ["FailureTarget", "Failed"]
    one.apply(BETTER)
    one.run(2 * MOMENT)
    first, second = one.submissions(TRAIN)
    assert first.manifest != second.manifest
    assert one.status(TRAIN) == {}, "it is taken back that it failed"
    one.run(30_000)
    assert len(one.submissions(TRAIN)) == 2


def test_what_was_refused_is_not_submitted_as_it_is_whatever_happens_to_its_status() -> None:
    one = refused()
    one.show(TRAIN, {"active": 1})
    one.run(30_000)
    one.restart()
    one.run(30_000)
    assert len(one.submissions(TRAIN)) == 1


def test_a_refused_object_is_submitted_once_more_under_another_policy() -> None:
    one = refused()
    one.apply(policy("all", {}, {"name": "more"}))
    one.run(2_000)
    assert len(one.submissions(TRAIN)) == 2


def test_it_may_change_before_anybody_says_that_it_was_refused() -> None:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    one.apply(BETTER)
    one.run(MOMENT)
    one.refuse(TRAIN, NO)
    one.run(5_000)
    assert len(one.submissions(TRAIN)) == 2


def test_a_failure_that_the_hub_does_not_take_back_is_left_to_its_owner() -> None:
    one = refused()
    one.hub.refuses["reset"] = not_taken()
    one.apply(BETTER)
    one.run(30_000)
    assert len(one.submissions(TRAIN)) == 1


def test_a_hub_that_is_away_gets_the_failure_taken_back_later() -> None:
    one = refused()
    one.apply(BETTER)
    one.hub.away = True
    one.run(3_000)
    assert len(one.submissions(TRAIN)) == 1
    one.hub.away = False
    one.run(3_000)
    assert len(one.submissions(TRAIN)) == 2


def test_the_job_that_stands_for_it_then_has_another_name_and_its_own_end() -> None:
    one = edited()
    said = one.submissions(flow())[-1]
    known = one.memory.objects[flow().uid]
    assert known.job != one.submissions(flow())[0].job
    assert known.wish.asked == digest_of(said)


@pytest.mark.parametrize("heard", [True, False], ids=["", "and its end was not heard of"])
def test_a_new_process_goes_by_the_newest_job_of_an_object(heard: bool) -> None:
    """Whose row it does not know when it sees the object: that of the first one has the object's own id."""
    one = edited()
    life = running(one, flow())
    one.run(5_000)
    one.says(life, wire.Succeeded, cluster="c1", status={"phase": "Succeeded"})
    one.run(5_000 if heard else 0)
    one.restart()
    one.run(5_000)
    assert one.memory.objects[flow().uid].job == life.now.id
    assert one.status(flow()) == {"phase": "Succeeded"}
    assert one.binding(flow())["metadata"]["labels"]["fairway.io/job"] == life.now.id
    assert len(one.submissions(flow())) == 2
    assert one.inbox.open == {}


def test_a_new_process_knows_why_the_newest_job_of_an_object_was_refused() -> None:
    one = edited()
    life = one.admit(flow())
    one.says(life, wire.Rejected, reasons=(NO,))
    one.run(5_000)
    assert one.status(flow())["phase"] == "Failed"
    one.restart()
    one.run(5_000)
    assert len(one.submissions(flow())) == 2, "it is as it was refused"
    one.apply(flow(parallelism=3))
    one.run(5_000)
    assert len(one.submissions(flow())) == 3


STAGES = {
    "it waits for a policy": (1, 0),
    "submitted, and admission has not seen it": (2, 1),
    "admitted": (3, 1),
    "running": (4, 1),
}


@pytest.mark.parametrize(("moment", "want"), STAGES.values(), ids=list(STAGES))
def test_a_process_that_begins_anew_submits_and_tells_nothing_twice(moment: int, want: int) -> None:
    one = HubDriver()
    brought(one, moment)
    told = (one.hub.notes, one.held(TRAIN), len(one.said(fleet.Configured)))
    one.hub.asked.clear()
    for _ in range(2):
        one.restart()
        one.run(30_000)
    assert len(one.said(wire.Submitted)) == want, "under the same id"
    assert (one.said(wire.Revise), one.said(wire.Cancel), one.said(wire.HoldJob)) == ([], [], [])
    assert (one.hub.notes, one.held(TRAIN), len(one.said(fleet.Configured))) == told
    # Why it is held is told once more, under the same name; that it was admitted came from nobody before.
    assert one.hub.verbs("event") in ([], ["bind"])


def test_a_policy_that_came_while_nobody_looked_lets_those_go_that_wait_for_it() -> None:
    one = HubDriver()
    brought(one, 1)
    one.hub.put(ALL.kind, ALL.manifest)
    one.restart()
    one.run(2 * MOMENT)
    assert len(one.said(wire.Submitted)) == 1
    assert one.held(TRAIN) is None


def test_what_is_held_and_was_deleted_while_nobody_looked_is_held_no_more() -> None:
    one = HubDriver()
    brought(one, 1)
    del one.hub.objects[JOB, "team-a", "train"]
    one.restart()
    assert one.held(TRAIN) is None
    assert [key for key in one.record.rows if key[0].startswith("held")] == []


def test_many_are_submitted_in_pieces_and_none_is_forgotten() -> None:
    one = HubDriver()
    many = [job(f"j{number}") for number in range(700)]
    one.apply(ALL, *many)
    one.run(1_000)
    assert len(one.said(wire.Submitted)) == 700
