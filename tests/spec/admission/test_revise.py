"""admission: another manifest of a job that is there."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.admission.decide import decide
from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.job import Job
from fairway.domain.submission import digest_of
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.admission.test_allowed import QUEUE, queue
from tests.spec.admission.test_decide import NOW, View, after, catalog, manifest, policy, submitted, view
from tests.spec.builders.lives import T0, Life
from tests.spec.builders.views import events, told, verbs

GOLD = (QUEUE, "gold", queue("gold", "team-a"))
HUB = wire.HubRef("u-1", "jobs")
ADA = Actor("hub:team-a", "hub", "u-1")
WHY = Reason(Code.JOB_FAILED, "exit code 1")
Given = Callable[[], Life]


def body(**spec: Any) -> dict[str, Any]:
    """The submitted Job, with other fields in its spec."""
    found = manifest()
    return {**found, "spec": {**found["spec"], **spec}}


def with_pod(**more: Any) -> dict[str, Any]:
    found = body()
    template = found["spec"]["template"]
    return body(template={**template, "spec": {**template["spec"], **more}})


def with_meta(**more: Any) -> dict[str, Any]:
    found = body()
    return {**found, "metadata": {**found["metadata"], **more}}


def admitted() -> Life:
    """As admission has it of the hub's object: two pods of half a core."""
    heard = submitted(hub=HUB, client="hub:u-1", source="hub", who=ADA)
    (job,) = after(decide(view(heard), heard, NOW))["jobs"].values()
    return Life(job.id).then(wire.Admitted, attempt=1, spec=job.spec)


def queued() -> Life:
    return admitted().then(wire.Queue, queue="default", enqueued_at=T0)


def placed() -> Life:
    slots = (Slot("pod", "n1", 2),)
    return queued().then(wire.Dequeued, charge={"cpu": 1_000}).then(wire.Placed, cluster="c1", slots=slots)


def reserved() -> Life:
    return placed().then(wire.Reserved, cluster="c1", slots=placed().now.slots, expires_at=T0)


def running() -> Life:
    return reserved().then(wire.Dispatched, cluster="c1", uid="u-9").then(wire.Running, cluster="c1")


def smaller() -> Life:
    """It runs, and was made smaller before."""
    life = running()
    spec = life.now.spec
    assert spec is not None
    (pods,) = spec.workload.pod_sets
    work = msgspec.structs.replace(spec.workload, pod_sets=(msgspec.structs.replace(pods, count=1),), gang_minimum=1)
    return life.then(wire.Amended, cluster="c1", spec=msgspec.structs.replace(spec, workload=work))


def revise(life: Life, wanted: dict[str, Any], **more: Any) -> Heard:
    given: dict[str, Any] = {
        "job": life.name,
        "tenant": "team-a",
        "manifest": msgspec.Raw(msgspec.json.encode(wanted)),
        "policies": (msgspec.Raw(msgspec.json.encode(policy())),),
        "client": "hub:u-1",
        "source": "hub",
        "hub": HUB,
        "who": Actor("hub:team-a", "hub", "u-1"),
    }
    delivered = more.pop("delivered", 2)
    return told(wire.Revise(**{**given, **more}), id="r1", sequence=11, delivered=delivered)


def first_look(life: Life, wanted: dict[str, Any], settings: Catalog | None = None, **more: Any) -> Decision:
    heard = revise(life, wanted, **more)
    return decide(view(heard, settings, jobs={life.name: life.now}), heard, NOW)


def decided(life: Life, wanted: dict[str, Any], before: Any = None, **more: Any) -> Any:
    """The one thing that is said once the manifest of now is known, which is the submitted one."""
    heard = revise(life, wanted, **more)
    (asked,) = first_look(life, wanted, **more).calls
    done = Outcome(asked, True, body=body() if before is None else before)
    again = msgspec.structs.replace(heard, outcomes=(done,))
    (said,) = events(decide(view(again, jobs={life.name: life.now}), again, NOW))
    return said


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


def test_of_a_job_that_runs_its_manifest_of_now_is_fetched_first() -> None:
    life = running()
    assert life.now.spec is not None
    want = Call("manifest", "", life.name, 1, life.now.spec.manifest)
    assert first_look(life, body(parallelism=1)) == Decision(calls=(want,))


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(body(parallelism=1), id="fewer pods"),
        pytest.param(body(activeDeadlineSeconds=60, backoffLimit=2), id="how long and how often"),
        pytest.param(with_meta(labels={"a": "b"}, annotations={"c": "d"}), id="its labels and annotations"),
        pytest.param(body(ttlSecondsAfterFinished=5), id="what only the hub's object has"),
        pytest.param(body(suspend=True), id="that it is suspended, which is said in another way"),
    ],
)
def test_what_its_operator_takes_over_is_changed_in_place(wanted: dict[str, Any]) -> None:
    life = running()
    said = decided(life, wanted)
    assert (said.verb, said.attempt, said.cluster, said.rev) == ("adjust", 1, "c1", 0)
    assert (said.spec.manifest.sequence, said.spec.manifest.sha256) == (11, digest_of(revise(life, wanted).message))
    assert said.spec.workload.pods == wanted["spec"]["parallelism"]
    assert said.spec.labels == wanted["metadata"].get("labels", {})


def test_what_was_decided_for_the_attempt_stays() -> None:
    """Its policy has changed meanwhile, and counts when it waits again."""
    life = running()
    changed = {**policy(), "spec": {**policy()["spec"], "placement": {"clusterAffinity": {"clusterNames": ["c1"]}}}}
    said = decided(life, body(parallelism=1), policies=(msgspec.Raw(msgspec.json.encode(changed)),))
    assert life.now.spec is not None
    assert (said.spec.placement, said.spec.attempts) == (life.now.spec.placement, life.now.spec.attempts)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        pytest.param(with_pod(nodeSelector={"a": "b"}), "spec.template.spec.nodeSelector.a", id="its pods"),
        pytest.param(body(completions=3), "spec.completions", id="how many are to end well"),
        pytest.param(body(parallelism=1, completionMode="Indexed"), "spec.completionMode", id="one field of two"),
    ],
)
def test_what_is_fixed_is_named_with_what_to_do(wanted: dict[str, Any], names: str) -> None:
    said = decided(running(), wanted)
    assert (said.verb, said.why.code, said.why.field) == ("unchanged", Code.NOT_CHANGEABLE, names)
    assert said.why.text == f"{names} cannot change while attempt 1 is in c1"
    assert said.why.remedy == "cancel it and apply it anew, or make the change while it waits in its queue"


def larger(**requests: str) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": requests}}
    return body(template={"spec": {"containers": [container]}})


@pytest.mark.parametrize(
    ("life", "wanted", "text"),
    [
        pytest.param(
            running,
            body(parallelism=3, completions=3),
            "it would have 3 pods of pod where room is reserved for 2",
            id="more pods",
        ),
        pytest.param(running, larger(cpu="2"), "each pod of pod would ask for more than is reserved", id="larger ones"),
        pytest.param(running, larger(memory="1Gi"), "each pod of pod would ask for more", id="something else"),
        pytest.param(
            smaller,
            body(parallelism=3, completions=3),
            "it would have 3 pods of pod where room is reserved for 2",
            id="more than before it was made smaller",
        ),
    ],
)
def test_more_than_is_reserved_waits_for_another_attempt(life: Given, wanted: dict[str, Any], text: str) -> None:
    (said,) = events(first_look(life(), wanted))
    assert (said.verb, said.why.code) == ("unchanged", Code.NEEDS_ROOM)
    assert text in said.why.text


def test_what_was_made_smaller_may_have_again_what_is_reserved() -> None:
    life = smaller()
    wanted = body(backoffLimit=1)
    heard = revise(life, wanted)
    (asked,) = first_look(life, wanted).calls
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, True, body=body(parallelism=1)),))
    (said,) = events(decide(view(again, jobs={life.name: life.now}), again, NOW))
    assert (said.verb, said.spec.workload.pods) == ("adjust", 2)


@pytest.mark.parametrize(
    ("wanted", "settings", "text"),
    [
        pytest.param(
            with_meta(annotations={"kube-queue/queue-name": "gold"}),
            (GOLD,),
            "queue gold instead of none",
            id="the queue",
        ),
        pytest.param(
            with_pod(priorityClassName="high"),
            (("PriorityClass", "high", {"value": 7}),),
            "priority 7 instead of 0",
            id="the priority",
        ),
        pytest.param(
            with_meta(labels={"quota.scheduling.alibabacloud.com/name": "a"}), (), "quota leaf a", id="the leaf"
        ),
    ],
)
def test_what_fairway_decided_by_stands_as_long_as_the_attempt(
    wanted: dict[str, Any], settings: tuple[tuple[str, str, dict[str, Any]], ...], text: str
) -> None:
    (said,) = events(first_look(running(), wanted, catalog(*settings)))
    assert (said.verb, said.why.code) == ("unchanged", Code.NOT_CHANGEABLE)
    assert text in said.why.text


def test_another_policy_that_would_select_it_is_named() -> None:
    along = (msgspec.Raw(msgspec.json.encode(policy("other"))),)
    (said,) = events(first_look(running(), body(parallelism=1), policies=along))
    assert "PropagationPolicy team-a/other instead of PropagationPolicy team-a/all" in said.why.text


def test_the_record_has_its_manifest_no_longer() -> None:
    life = running()
    heard = revise(life, body(parallelism=1))
    (asked,) = first_look(life, body(parallelism=1)).calls
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, True, body=None),))
    (said,) = events(decide(view(again, jobs={life.name: life.now}), again, NOW))
    assert (said.verb, said.why.code) == ("unchanged", Code.NOT_CHANGEABLE)


def test_a_bus_that_is_away_is_asked_again() -> None:
    life = running()
    heard = revise(life, body(parallelism=1))
    (asked,) = first_look(life, body(parallelism=1)).calls
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, False),))
    assert decide(view(again, jobs={life.name: life.now}), again, NOW) == Decision(again_in=500)


def test_another_change_was_faster_and_the_manifest_of_now_is_fetched_anew() -> None:
    life = running()
    heard = revise(life, body(parallelism=1))
    (asked,) = first_look(life, body(parallelism=1)).calls
    spec = life.now.spec
    assert spec is not None
    newer = msgspec.structs.replace(spec, manifest=wire.ManifestRef(10, "d" * 64, 5))
    life.then(wire.Amended, cluster="c1", spec=newer)
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, True, body=body()),))
    (call,) = decide(view(again, jobs={life.name: life.now}), again, NOW).calls
    assert call.body == newer.manifest


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
