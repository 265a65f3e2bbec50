"""admission: another manifest of a job that is there."""

from typing import Any

import msgspec
import pytest

from fairway.admission.decide import decide
from fairway.domain.decision import NOTHING, Decision
from fairway.domain.job import Job
from fairway.domain.submission import digest_of
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import Template
from tests.spec.admission.revisions import (
    ADA,
    GOLD,
    HUB,
    WHY,
    Given,
    admitted,
    body,
    first_look,
    placed,
    queued,
    reserved,
    revise,
    running,
    with_meta,
    with_pod,
)
from tests.spec.admission.test_decide import NOW, View, catalog, policy, submitted, view
from tests.spec.builders.lives import Life
from tests.spec.builders.views import events, verbs


@pytest.mark.parametrize(
    "life",
    [
        pytest.param(admitted, id="it was admitted a moment ago"),
        pytest.param(queued, id="it waits in its queue"),
        pytest.param(lambda: running().then(wire.Lost, cluster="c1", why=WHY), id="it comes back"),
    ],
)
def test_of_a_job_that_waits_the_new_manifest_is_understood_and_passed_on(life: Given) -> None:
    (said,) = events(first_look(life(), body(parallelism=5, completions=5)))
    assert (said.verb, said.rev, said.job, said.tenant) == ("revised", 0, life().name, "team-a")
    assert (said.spec.workload.pods, said.spec.manifest.sequence) == (5, 11)
    assert said.spec.manifest.sha256 == digest_of(revise(life(), body(parallelism=5, completions=5)).message)


def test_whoever_changes_it_the_job_stays_whose_it_was() -> None:
    (said,) = events(first_look(queued(), body(parallelism=1), client="hub:u-2", who=Actor("eve", "hub")))
    assert (said.spec.client, said.spec.who, said.spec.hub) == ("team-a/hub:u-1", ADA, HUB)


@pytest.mark.parametrize("through", ["the hub", "another door"])
def test_the_record_has_the_templates_of_the_manifest_that_counts(through: str) -> None:
    lib = Template("WorkflowTemplate.argoproj.io/v1alpha1", "team-a", "lib", "u-9", "7", "d" * 32)
    hub = msgspec.structs.replace(HUB, templates=(lib,), wish="w")
    (said,) = events(first_look(queued(), body(parallelism=1), hub=hub if through == "the hub" else None))
    assert said.spec.hub == (hub if through == "the hub" else HUB)
    life = queued().then(wire.Amended, spec=msgspec.structs.replace(queued().now.spec, hub=hub))
    (again,) = events(first_look(life, body(parallelism=1)))
    assert again.spec.hub == HUB


def test_its_queue_annotation_is_read_anew() -> None:
    hub = catalog(GOLD)
    wanted = with_meta(annotations={"kube-queue/queue-name": "gold"})
    (said,) = events(first_look(queued(), wanted, hub))
    assert (said.verb, said.spec.queue) == ("revised", "gold")


UNDERSTOOD_NOT = [
    pytest.param(with_pod(hostNetwork=True), Code.UNSAFE_POD, "hostNetwork", id="pods that may hurt others"),
    pytest.param(body(parallelism="many"), Code.INVALID, "parallelism", id="what cannot be read"),
    pytest.param(with_pod(priorityClassName="vip"), Code.UNKNOWN_PRIORITY_CLASS, "vip", id="a class that is not there"),
]


@pytest.mark.parametrize("life", [queued, running], ids=["while it waits", "while it runs"])
@pytest.mark.parametrize(("wanted", "code", "words"), UNDERSTOOD_NOT)
def test_a_manifest_that_would_not_be_admitted_is_not_taken_over(
    life: Given, wanted: dict[str, Any], code: Code, words: str
) -> None:
    (said,) = events(first_look(life(), wanted))
    assert (said.verb, said.why.code) == ("unchanged", code)
    assert words in f"{said.why.field} {said.why.text}"
    assert said.digest == digest_of(revise(life(), wanted).message)


def test_every_reason_is_named() -> None:
    (said,) = events(first_look(queued(), with_pod(hostNetwork=True, hostPID=True)))
    assert "hostNetwork" in said.why.text and "hostPID" in said.why.text


def test_a_setting_that_may_still_be_on_its_way_is_waited_for_once() -> None:
    wanted = with_pod(priorityClassName="vip")
    assert first_look(queued(), wanted, delivered=1) == Decision(again_in=250)
    assert verbs(first_look(queued(), wanted, delivered=2)) == ["unchanged"]


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(with_meta(name="other"), id="another name"),
        pytest.param({**body(), "kind": "Job", "apiVersion": "batch.volcano.sh/v1alpha1"}, id="another kind"),
    ],
)
def test_what_is_another_object_is_another_job(wanted: dict[str, Any]) -> None:
    if wanted["apiVersion"] != "batch/v1":
        wanted["spec"] = {"tasks": [{"name": "t", "replicas": 1, "template": body()["spec"]["template"]}]}
    every = {
        **policy(),
        "spec": {
            **policy()["spec"],
            "resourceSelectors": [
                {"apiVersion": one, "kind": "Job"} for one in ("batch/v1", "batch.volcano.sh/v1alpha1")
            ],
        },
    }
    along = (msgspec.Raw(msgspec.json.encode(every)),)
    (said,) = events(first_look(queued(), wanted, policies=along))
    assert (said.verb, said.why.code, said.why.field) == ("unchanged", Code.NOT_CHANGEABLE, "metadata.name")


def test_an_object_that_was_made_anew_does_not_change_the_job_of_the_one_before() -> None:
    (said,) = events(first_look(queued(), body(parallelism=1), hub=wire.HubRef("u-2")))
    assert (said.verb, said.why.code) == ("unchanged", Code.ANOTHER_OBJECT)


def cancelling() -> Life:
    return running().then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))


@pytest.mark.parametrize(
    ("life", "wanted"),
    [
        pytest.param(queued, body(), id="it is the manifest that counts"),
        pytest.param(running, body(), id="of a job that runs, too"),
        pytest.param(lambda: running().then(wire.Succeeded, cluster="c1"), body(parallelism=1), id="the job has ended"),
        pytest.param(cancelling, body(parallelism=1), id="it is being cancelled"),
    ],
)
def test_there_is_nothing_to_say(life: Given, wanted: dict[str, Any]) -> None:
    assert first_look(life(), wanted) == NOTHING


def test_nobody_knows_the_job() -> None:
    heard = revise(queued(), body(parallelism=1))
    assert decide(view(heard), heard, NOW) == NOTHING


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(lambda: queued().then(wire.Dequeued), "revised", id="it was let go"),
        pytest.param(placed, "revised", id="it was placed"),
        pytest.param(reserved, "unchanged", id="it is being started"),
    ],
)
def test_a_job_on_its_way_is_waited_for_but_not_for_ever(life: Given, want: str) -> None:
    assert first_look(life(), body(parallelism=1)) == Decision(again_in=500)
    (said,) = events(first_look(life(), body(parallelism=1), delivered=20))
    assert said.verb == want
    assert want == "revised" or (said.why.code, said.why.remedy) == (Code.BEING_STARTED, "wait until it has started")


@pytest.mark.parametrize("wanted", [body(parallelism=1), with_pod(hostNetwork=True)], ids=["taken", "refused"])
def test_the_same_message_twice_is_said_once(wanted: dict[str, Any]) -> None:
    life = queued()
    heard = revise(life, wanted)
    first, again = (
        decide(view(one, jobs={life.name: life.now}), one, NOW)
        for one in (heard, msgspec.structs.replace(heard, delivered=3))
    )
    assert [say.id for step in first.steps for say in step.events] == [
        say.id for step in again.steps for say in step.events
    ]
    assert all(not step.writes for step in first.steps)


def resubmitted(job: Job, **spec: Any) -> Decision:
    """The hub's object is submitted again, with other fields, after its change was taken over."""
    heard = submitted(body(**spec), hub=HUB, client="hub:u-1", source="hub", who=ADA)
    seen: View = view(heard, jobs={job.id: job})
    assert job.submitted_as is not None
    seen.clients["team-a/hub:u-1"] = (job.id, job.submitted_as.sha256)
    return decide(seen, heard, NOW)


def test_its_object_is_known_again_by_what_was_submitted_and_by_what_counts_now() -> None:
    life = queued()
    (said,) = events(first_look(life, body(parallelism=1)))
    job = life.then(wire.Amended, spec=said.spec, queue="default").now
    assert resubmitted(job) == NOTHING
    assert resubmitted(job, parallelism=1) == NOTHING
    assert verbs(resubmitted(job, parallelism=3)) == ["rejected"]
