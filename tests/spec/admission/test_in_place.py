"""admission: another manifest of a job that runs, which may change its object as far as its kind lets it."""

from typing import Any

import msgspec
import pytest

from fairway.admission.decide import decide
from fairway.admission.view import ReadManifest
from fairway.domain.batch_resources import on_batch
from fairway.domain.decision import Call, Decision, Outcome
from fairway.domain.submission import digest_of
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.spec.admission.revisions import (
    GOLD,
    Given,
    body,
    decided,
    first_look,
    revise,
    running,
    smaller,
    with_meta,
    with_pod,
)
from tests.spec.admission.test_decide import NOW, catalog, policy, view
from tests.spec.builders.views import events


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
    again = msgspec.structs.replace(
        heard, outcomes=(Outcome(asked, True, body=ReadManifest(asked.body, body(parallelism=1))),)
    )
    (said,) = events(decide(view(again, jobs={life.name: life.now}), again, NOW))
    assert (said.verb, said.spec.workload.pods) == ("adjust", 2)


@pytest.mark.parametrize("batch", [True, False])
def test_a_job_that_may_have_either_is_changed_on_what_it_runs_on(batch: bool) -> None:
    life = running()
    spec = life.now.spec
    assert spec is not None
    work = msgspec.structs.replace(spec.workload, batch_first=True)
    work = on_batch(work) if batch else work
    life.then(wire.Amended, cluster="c1", spec=msgspec.structs.replace(spec, workload=work))
    wanted = with_meta(annotations={"fairway.io/room": "batch,normal"})
    said = decided(life, {**wanted, "spec": body(backoffLimit=1)["spec"]})
    assert said.verb == "adjust"
    assert said.spec.workload == work


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
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, True, body=ReadManifest(asked.body, None)),))
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
    again = msgspec.structs.replace(heard, outcomes=(Outcome(asked, True, body=ReadManifest(asked.body, body())),))
    (call,) = decide(view(again, jobs={life.name: life.now}), again, NOW).calls
    assert call.body == newer.manifest
