"""admission: understood, new, and of a free name, or refused with what to do."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from fairway.admission.decide import decide
from fairway.admission.understand import Understood, understand
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.fold import born
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.domain.tenancy.submission_limits import Limits
from fairway.quota.decide import decide as quota
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code
from tests.spec.builders.lives import T0, S, admitted
from tests.spec.builders.views import events, of, puts, told, tree, verbs

NOW = T0 + 60 * S
ID = job_id("team-a", "c1", "train")
NAME = "team-a/Job/train"


def manifest(**meta: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "500m"}}}
    spec = {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [container]}}}
    head = {"name": "train", "namespace": "team-a", **meta}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": head, "spec": spec}


def policy(name: str = "all", wide: bool = False, **placement: Any) -> dict[str, Any]:
    selectors = [{"apiVersion": "batch/v1", "kind": "Job"}]
    spec = {"resourceSelectors": selectors, "placement": placement}
    meta = {"name": name} if wide else {"name": name, "namespace": "team-a"}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy" if wide else "PropagationPolicy",
        "metadata": meta,
        "spec": spec,
    }


def catalog(*configured: tuple[str, str, dict[str, Any]]) -> Catalog:
    hub = Catalog()
    for kind, name, body in (("Cluster", "c1", {}), *configured):
        hub.take(fleet.Configured(kind=kind, name=name, manifest=msgspec.Raw(msgspec.json.encode(body))))
    return hub


def submitted(body: Any = None, **more: Any) -> Heard:
    raw = msgspec.Raw(msgspec.json.encode(manifest() if body is None else body))
    given = {
        "tenant": "team-a",
        "manifest": raw,
        "policies": (msgspec.Raw(msgspec.json.encode(policy())),),
        "client": "c1",
    }
    delivered = more.pop("delivered", 1)
    return told(wire.Submitted(**{**given, **more}), sequence=7, delivered=delivered)


@dataclass
class View:
    understood: dict[str, Understood]
    jobs: dict[str, Job] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    stored: dict[str, Job | None] = field(default_factory=dict)
    clients: dict[str, tuple[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    hasty: set[str] = field(default_factory=set)
    limits: dict[str, Limits] = field(default_factory=dict)


def view(heard: Heard, hub: Catalog | None = None, **more: Any) -> View:
    return View({heard.id: understand(heard.message, heard.id, heard.sequence, hub or catalog())}, **more)


def after(decision: Decision) -> dict[str, Any]:
    """The rows as a decision leaves them."""
    jobs = puts(decision, "jobs")
    rows = {"jobs": jobs, "revs": {name: job.rev for name, job in jobs.items()}}
    return {**rows, "clients": puts(decision, "clients"), "names": puts(decision, "names")}


def test_a_manifest_becomes_a_job_with_its_name_and_its_client_taken() -> None:
    heard = submitted()
    decision = decide(view(heard), heard, NOW)
    (said,) = events(decision)
    assert (said.verb, said.job, said.attempt, said.rev) == ("admitted", ID, 1, 1)
    assert (said.spec.workload.pods, said.spec.manifest.sequence) == (2, 7)
    assert puts(decision, "names") == {NAME: ID}
    assert puts(decision, "clients") == {"team-a/c1": (ID, said.spec.manifest.sha256)}
    assert puts(decision, "live") == {ID: ""}
    guards = {write.key: write.expect for write in decision.steps[0].writes if write.table in ("names", "clients")}
    assert guards == {NAME: 0, "team-a/c1": 0}


def test_the_same_client_saying_the_same_again_is_the_same_job() -> None:
    heard = submitted()
    first = decide(view(heard), heard, NOW)
    assert decide(view(heard, **after(first)), heard, NOW) == NOTHING


def test_the_same_client_saying_something_else_is_refused_and_its_job_stays() -> None:
    heard = submitted()
    other = submitted(manifest(labels={"a": "b"}))
    rows = after(decide(view(heard), heard, NOW))
    refused = decide(view(other, **rows), other, NOW)
    (said,) = events(refused)
    assert (said.verb, said.reasons[0].code, said.reasons[0].field) == ("rejected", Code.DUPLICATE, "client")
    assert said.job != ID
    rows["jobs"] |= puts(refused, "jobs")
    assert decide(view(other, **rows), other, NOW) == NOTHING


def test_a_refusal_delivered_again_is_not_a_second_refusal() -> None:
    heard = submitted({"kind": "Job"})
    first = decide(view(heard), heard, NOW)
    assert verbs(first) == ["rejected"]
    assert decide(view(heard, **after(first)), heard, NOW) == NOTHING


def test_a_corrected_manifest_under_a_refused_client_id_is_told_to_use_another() -> None:
    bad = submitted(manifest(labels={"-": "-"}))
    good = submitted()
    (said,) = events(decide(view(good, **after(decide(view(bad), bad, NOW))), good, NOW))
    assert (said.verb, said.reasons[0].remedy) == ("rejected", "use a new client id")


def refused_by_the_quota(hub: wire.HubRef | None) -> tuple[Heard, dict[str, Any]]:
    """What was submitted, and the rows once the quota had refused its job."""
    heard = submitted(hub=hub)
    (said,) = events(decide(view(heard), heard, NOW))
    rows = of(tree=tree(jobs=0))
    rows.jobs[ID] = born(said)
    rows.revs[ID] = 1
    out = quota(rows, told(said), NOW)
    assert verbs(out) == ["rejected"]
    return heard, {**after(out), "clients": {"team-a/c1": (ID, said.spec.manifest.sha256)} | puts(out, "clients")}


def test_an_object_of_the_hub_that_the_quota_refused_is_a_job_of_its_own_once_it_was_edited() -> None:
    """Who edits it cannot give it another client id."""
    hub = wire.HubRef("u-1", "jobs")
    heard, rows = refused_by_the_quota(hub)
    assert decide(view(heard, **rows), heard, NOW) == NOTHING, "it says the same again"
    edited = submitted(manifest(labels={"a": "b"}), hub=hub)
    decision = decide(view(edited, **rows), edited, NOW)
    (said,) = events(decision)
    assert (said.verb, said.job != ID) == ("admitted", True)
    assert puts(decision, "clients") == {"team-a/c1": (said.job, said.spec.manifest.sha256)}
    (guard,) = [write.expect for write in decision.steps[0].writes if write.table == "clients"]
    assert guard == 1, "in place of what was refused"


def test_whoever_can_take_another_client_id_has_to() -> None:
    _, rows = refused_by_the_quota(None)
    other = submitted(manifest(labels={"a": "b"}))
    (said,) = events(decide(view(other, **rows), other, NOW))
    assert (said.verb, said.reasons[0].remedy) == ("rejected", "use a new client id")


def test_a_live_name_is_taken() -> None:
    heard = submitted()
    (said,) = events(decide(view(heard, names={NAME: "train-1"}), heard, NOW))
    assert (said.reasons[0].code, said.reasons[0].field) == (Code.DUPLICATE, "metadata.name")
    assert "train-1" in said.reasons[0].text


@pytest.mark.parametrize(("delivered", "waits"), [(1, True), (239, True), (240, False)])
def test_an_object_created_anew_on_the_hub_waits_a_minute_for_its_name(delivered: int, waits: bool) -> None:
    heard = submitted(hub=wire.HubRef("u-2"), delivered=delivered)
    decision = decide(view(heard, names={NAME: "train-1"}), heard, NOW)
    assert (decision.again_in, verbs(decision)) == ((250, []) if waits else (None, ["rejected"]))


PRIORITIES = ("PriorityClass", "high", {"value": 9}), ("PriorityClass", "low", {"value": 1, "globalDefault": True})


@pytest.mark.parametrize(
    ("named", "hub", "want"),
    [
        pytest.param("", catalog(), 0, id="no classes"),
        pytest.param("", catalog(*PRIORITIES), 1, id="the default class"),
        pytest.param("high", catalog(*PRIORITIES), 9, id="its own class"),
    ],
)
def test_the_priority_is_that_of_the_pods_class(named: str, hub: Catalog, want: int) -> None:
    body = manifest()
    if named:
        body["spec"]["template"]["spec"]["priorityClassName"] = named
    heard = submitted(body)
    (said,) = events(decide(view(heard, hub), heard, NOW))
    assert said.spec.priority == want


def pods(**spec: Any) -> dict[str, Any]:
    body = manifest()
    body["spec"]["template"]["spec"] |= spec
    return body


TWO = (policy("one"), policy("two"))
REFUSED: dict[str, tuple[Heard, Code]] = {
    "no policy selects it": (submitted(policies=()), Code.NO_POLICY),
    "two policies select it": (
        submitted(policies=tuple(msgspec.Raw(msgspec.json.encode(one)) for one in TWO)),
        Code.TWO_POLICIES,
    ),
    "its priority class is not there": (submitted(pods(priorityClassName="none")), Code.UNKNOWN_PRIORITY_CLASS),
    "its queue is not there": (
        submitted(manifest(annotations={"kube-queue/queue-name": "none"})),
        Code.UNKNOWN_QUEUE,
    ),
    "a kind that nobody knows": (submitted({**manifest(), "kind": "Cake"}), Code.UNKNOWN_KIND),
    "submitted for another tenant": (submitted(tenant="team-b"), Code.INVALID),
    "larger than a message may be": (submitted(manifest(annotations={"a": "x" * 1_100_000})), Code.TOO_LARGE),
    "a list instead of an object": (submitted([1, 2]), Code.INVALID),
    "no metadata": (submitted({"apiVersion": "batch/v1", "kind": "Job"}), Code.INVALID),
    "metadata that is no mapping": (submitted({**manifest(), "metadata": "x"}), Code.INVALID),
    "annotations that are no mapping": (submitted(manifest(annotations=["a"])), Code.INVALID),
    "labels that are no mapping": (submitted(manifest(labels="a")), Code.INVALID),
    "a spec that is no mapping": (submitted({**manifest(), "spec": [1]}), Code.INVALID),
    "a policy that is no mapping": (submitted(policies=(msgspec.Raw(b"[]"),)), Code.INVALID),
    "a policy that is null": (submitted(policies=(msgspec.Raw(b"null"),)), Code.INVALID),
}


@pytest.mark.parametrize(("heard", "code"), REFUSED.values(), ids=list(REFUSED))
def test_refused_with_its_code_and_what_to_do(heard: Heard, code: Code) -> None:
    heard = msgspec.structs.replace(heard, delivered=2)  # at first its settings may still be on their way
    decision = decide(view(heard), heard, NOW)
    (said,) = events(decision)
    assert (said.verb, said.reasons[0].code, bool(said.reasons[0].remedy)) == ("rejected", code, True)
    assert (puts(decision, "names"), puts(decision, "live")) == ({}, {})


@pytest.mark.parametrize("case", ["no policy selects it", "its priority class is not there"])
def test_what_a_setting_on_its_way_would_mend_is_looked_at_twice(case: str) -> None:
    heard, _ = REFUSED[case]
    first = decide(view(heard), heard, NOW)
    assert (first.steps, first.again_in) == ((), 250)


def test_a_refused_job_is_a_job_that_ended_at_once() -> None:
    heard = submitted({"kind": "Job"})
    decision = decide(view(heard), heard, NOW)
    (said,) = events(decision)
    assert puts(decision, "jobs") == {said.job: born(said)}
    assert admitted().now.ended is False


@pytest.mark.parametrize("who", [Actor("ada", "http", "r-1"), None], ids=["a door said who", "by a version of before"])
def test_who_submitted_it_stays_with_the_job_and_one_of_before_is_taken_too(who: Actor | None) -> None:
    heard = submitted(who=who)
    (said,) = events(decide(view(heard), heard, NOW))
    assert said.spec.who == who


def test_a_manifest_in_anothers_namespace_takes_no_id_there() -> None:
    """Else a refusal would stand under the job that the other tenant's same client id is going to make."""
    heard = submitted(tenant="team-b")
    (said,) = events(decide(view(heard), heard, NOW))
    assert (said.verb, said.tenant, said.client) == ("rejected", "team-b", "team-b/c1")
    assert said.job != ID
