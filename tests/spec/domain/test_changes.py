"""What a change makes of a job, and what doors say to ask for one."""

from typing import Any

import msgspec
import pytest

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.domain.submission import Asked, digest_of, holding, revision
from fairway.runtime.record.folding import working_set
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import Life, dequeued, queued, running, spec

FIRST = wire.ManifestRef(1, "a" * 64, 20)
SECOND = wire.ManifestRef(9, "b" * 64, 30)
THIRD = wire.ManifestRef(12, "c" * 64, 30)
ON_THE_HUB = Actor("hub:team-a", "hub", "u-1")
WHY = Reason(Code.JOB_FAILED, "exit code 1")


def amended(life: Life, **more: Any) -> Job:
    return life.then(wire.Amended, **{"spec": spec(pods=2, manifest=SECOND), **more}).now


def waiting() -> Life:
    return queued(manifest=FIRST, client="team-a/hub:u-1")


def test_a_job_that_waits_has_its_new_manifest_and_the_queue_and_leaf_that_were_worked_out_anew() -> None:
    job = amended(waiting(), queue="silver", leaf=("root", "root/b"))
    assert job.spec == spec(pods=2, manifest=SECOND)
    assert (job.queue, job.leaf) == ("silver", ("root", "root/b"))


def test_it_keeps_its_place_where_none_was_worked_out() -> None:
    job = amended(waiting())
    assert (job.queue, job.leaf, job.enqueued_at) == ("gold", ("root", "root/a"), queued().now.enqueued_at)


def test_without_a_quota_tree_it_has_no_leaf_any_more() -> None:
    job = amended(waiting(), queue="default")
    assert (job.queue, job.leaf) == ("default", ())


def test_a_job_that_runs_has_what_its_object_says_and_keeps_its_share_and_its_room() -> None:
    before = running(manifest=FIRST).now
    job = amended(running(manifest=FIRST), cluster="c1")
    assert (job.spec, job.state, job.attempts) == (spec(pods=2, manifest=SECOND), before.state, before.attempts)
    assert (job.path, job.charge, job.slots) == (before.path, before.charge, before.slots)


def test_what_was_submitted_is_known_after_any_number_of_changes() -> None:
    life = waiting()
    amended(life)
    job = amended(life, spec=spec(manifest=THIRD, client="team-a/hub:u-1"))
    assert (job.submitted_as, job.spec and job.spec.manifest) == (FIRST, THIRD)
    rows = working_set({job.id: job}).rows[decision.CLIENTS]
    assert rows == {"team-a/hub:u-1": (1, msgspec.json.encode([job.id, FIRST.sha256]))}


def test_another_policy_is_no_other_manifest() -> None:
    job = amended(waiting(), spec=spec(manifest=FIRST, attempts=1))
    assert (job.first_manifest, job.submitted_as) == (None, FIRST)


@pytest.mark.parametrize(
    "life",
    [
        pytest.param(queued, id="while it waits"),
        pytest.param(dequeued, id="on its way"),
        pytest.param(running, id="while it runs"),
    ],
)
def test_a_job_is_held_until_it_is_let_go_and_goes_on_as_it_was(life: Any) -> None:
    before = life().now
    held = life().then(wire.Held, held=True)
    assert (held.now.held, held.now.state, held.now.entered) == (True, before.state, before.entered)
    assert not held.then(wire.Held, held=False).now.held


def test_it_is_held_through_all_that_follows() -> None:
    life = running().then(wire.Held, held=True).then(wire.Lost, cluster="c1", why=WHY)
    assert life.then(wire.Queue, queue="gold", attempt=2).now.held


def said(job: Job, *policies: Any, **manifest: Any) -> wire.Revise:
    asked = Asked({"kind": "Job", "metadata": {"name": "llm", **manifest}}, policies, "hub:u-1")
    found = revision(job, asked, ON_THE_HUB, 5, wire.HubRef("u-1", "jobs"))
    message = found.say.message
    assert isinstance(message, wire.Revise)
    assert (found.say.subject, found.digest) == ("fairway.job.revise.team-a", digest_of(message))
    return message


def name(job: Job, *policies: Any, **manifest: Any) -> str:
    asked = Asked({"kind": "Job", "metadata": {"name": "llm", **manifest}}, policies, "hub:u-1")
    return revision(job, asked, ON_THE_HUB, 5).say.id


def test_a_revision_speaks_of_the_job_and_says_who_asked_through_which_door() -> None:
    message = said(waiting().now, {"kind": "PropagationPolicy"})
    assert (message.job, message.tenant, message.client, message.rev) == ("llm-1", "team-a", "hub:u-1", 0)
    assert (message.source, message.who, message.hub) == ("hub", ON_THE_HUB, wire.HubRef("u-1", "jobs"))
    assert [bytes(one) for one in message.policies] == [b'{"kind":"PropagationPolicy"}']


def test_a_wish_has_one_id_until_another_is_uttered_or_the_job_has_changed() -> None:
    job = waiting().now
    assert name(job) == name(job)
    others = {name(job, labels={"a": "b"}), name(job, {"kind": "PropagationPolicy"}), name(amended(waiting()))}
    assert len({name(job), *others}) == 4


def test_holding_and_letting_go_are_two_wishes() -> None:
    job = waiting().now
    hold = holding(job, True, ON_THE_HUB, 5)
    assert (hold.subject, hold.message) == (
        "fairway.job.hold.team-a",
        wire.HoldJob(job="llm-1", tenant="team-a", at=5, held=True, who=ON_THE_HUB),
    )
    assert hold.id == holding(job, True, ON_THE_HUB, 9_000).id
    after = waiting().then(wire.Held, held=True).now
    assert len({hold.id, holding(job, False, ON_THE_HUB, 5).id, holding(after, True, ON_THE_HUB, 5).id}) == 3
