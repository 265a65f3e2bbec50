"""A template that changes while a job waits is an edit of it; of a job that runs it changes nothing."""

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject
from tests.cases.workflow_templates import LIB, ref, step, steps, workflow
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.intake.test_owners_wish import amended, unchanged
from tests.spec.hub.intake.test_what_holds import MOMENT, like, running
from tests.spec.hub.workflow_objects import ALL, TRAIN, cpus, lib, version


def waiting(train: HubObject = TRAIN, *there: HubObject) -> tuple[HubDriver, Life]:
    """Its job waits in a queue, as it was written out."""
    one = HubDriver()
    one.apply(ALL, *(there or (lib(),)), train)
    one.run(2 * MOMENT)
    life = one.admit(train)
    one.says(life, wire.Queue, queue="gold")
    one.run(3_000)
    return one, life


def test_a_template_that_changes_while_the_job_waits_is_an_edit_of_it() -> None:
    one, life = waiting()
    one.apply(lib(2))
    one.run(30_000)
    (said,) = one.said(wire.Revise)
    assert (cpus([said]), said.hub.templates[0].version) == (["2"], version(one, lib()))
    amended(one, life)
    one.apply(like(lib(2), labels={"a": "b"}))
    one.run(30_000)
    assert len(one.said(wire.Revise)) == 1


def test_a_template_that_goes_while_the_job_waits_changes_nothing_and_counts_when_it_is_back() -> None:
    one, _ = waiting()
    one.delete(lib())
    one.run(30_000)
    one.restart()
    one.run(30_000)
    assert one.said(wire.Revise) == []
    one.apply(lib(2))
    one.run(30_000)
    assert cpus(one.said(wire.Revise)) == ["2"]


def test_a_template_that_changes_changes_nothing_of_a_running_job_until_it_waits_again() -> None:
    one = HubDriver()
    one.apply(ALL, lib(), TRAIN)
    one.run(2 * MOMENT)
    life = running(one, TRAIN)
    one.run(3_000)
    one.apply(lib(2))
    one.run(30_000)
    one.restart()
    one.run(30_000)
    assert (one.said(wire.Revise), "Unchanged" in one.events(TRAIN)) == ([], False)
    one.says(life, wire.Lost, cluster="c1", why=wire.Reason(Code.VANISHED, "gone"))
    one.says(life, wire.Queue, queue="gold", attempt=2)
    one.run(30_000)
    assert cpus(one.said(wire.Revise)) == ["2"]


def test_what_its_owner_changes_while_it_runs_is_asked_for_once() -> None:
    one = HubDriver()
    one.apply(ALL, lib(), TRAIN)
    one.run(2 * MOMENT)
    life = running(one, TRAIN)
    one.run(3_000)
    one.apply(like(TRAIN, spec={"parallelism": 2}))
    one.run(30_000)
    (said,) = one.said(wire.Revise)
    assert said.hub.wish != one.submissions(TRAIN)[0].hub.wish
    unchanged(one, life)
    one.run(30_000)
    assert len(one.said(wire.Revise)) == 1


def test_an_edit_that_refers_to_what_is_not_there_is_answered_and_taken_when_it_is() -> None:
    one, life = waiting()
    other = workflow(steps("main", step(templateRef=ref("other", "a"))))["spec"]
    one.apply(like(TRAIN, spec=other))
    one.run(30_000)
    (said,) = one.said(wire.Revise)
    assert b"templateRef" in bytes(said.manifest)
    unchanged(one, life)
    one.run(30_000)
    one.apply(lib(4, LIB._replace(name="other")))
    one.run(30_000)
    assert cpus(one.said(wire.Revise)[1:]) == ["4"]


def test_what_was_refused_is_submitted_anew_with_a_template_that_was_mended() -> None:
    one = HubDriver()
    one.apply(ALL, lib(1), TRAIN)
    one.run(2 * MOMENT)
    one.refuse(TRAIN, wire.Reason(Code.UNSAFE_POD, "no"))
    one.run(3_000)
    one.apply(lib(2))
    one.run(30_000)
    assert cpus(one.submissions(TRAIN)) == ["1", "2"]


def test_a_process_that_begins_anew_says_nothing_twice() -> None:
    one, _ = waiting()
    for _ in range(2):
        one.restart()
        one.run(30_000)
    assert (len(one.submissions(TRAIN)), one.said(wire.Revise)) == (1, [])


def test_a_process_that_begins_anew_takes_another_policy_for_no_wish_of_the_owner() -> None:
    one, _ = waiting()
    one.apply(like(ALL, annotations={"fairway.io/max-attempts": "5"}))
    one.run(3_000)
    one.restart()
    one.run(30_000)
    assert one.said(wire.Revise) == []


def test_a_workflow_that_was_deleted_is_forgotten_with_what_it_refers_to() -> None:
    one, _ = waiting()
    one.delete(TRAIN)
    one.apply(lib(2))
    one.run(30_000)
    assert one.said(wire.Revise) == []
    assert (one.memory.templates.uses, one.memory.templates.users) == ({}, {})
