"""`suspend` on the hub's object is its owner's: it holds the job and lets it go. What Fairway shows there is not."""

from typing import Any

from tests.kubernetes.hub.objects import Applied, all_of, is_true, sent_to
from tests.kubernetes.support.fleet import RealFleet, until
from tests.kubernetes.support.tries import job, policy, template

Json = dict[str, Any]
# Where the kind has it.
SUSPEND = {
    "Job": ("spec", "suspend"),
    "PyTorchJob": ("spec", "runPolicy", "suspend"),
    "JobSet": ("spec", "suspend"),
    "RayJob": ("spec", "suspend"),
    "RayCluster": ("spec", "suspend"),
    "Workflow": ("spec", "suspend"),
}


def made(kind: str, tenant: str) -> Json:
    if not kind.startswith("Ray"):
        return job(kind, tenant, kind.lower())
    head = {"rayStartParams": {}, "template": template("ray-head")}
    cluster = {"headGroupSpec": head}
    as_job = {"entrypoint": "x", "submissionMode": "HTTPMode", "rayClusterSpec": cluster}
    meta = {"name": kind.lower(), "namespace": tenant, "annotations": head["template"]["metadata"]["annotations"]}
    return {
        "apiVersion": "ray.io/v1",
        "kind": kind,
        "metadata": meta,
        "spec": as_job if kind == "RayJob" else cluster,
    }


def set_to(what: Json, kind: str, value: bool) -> None:
    here = what
    for key in SUSPEND[kind][:-1]:
        here = here.setdefault(key, {})
    here[SUSPEND[kind][-1]] = value


def suspend(one: Applied, value: bool) -> None:
    one.change(lambda body: set_to(body, one.kind, value))


def waits_suspended(one: Applied) -> bool:
    return one.lacks("Suspended") and not one.is_in()


def test_it_holds_a_job_of_every_kind_from_the_first_and_while_it_runs_and_spends_no_attempt(
    fleet: RealFleet, tenant: str
) -> None:
    ones = {}
    for kind in SUSPEND:
        what = made(kind, tenant)
        set_to(what, kind, True)
        ones[kind] = sent_to(fleet, what, "north", attempts=1)
    all_of(ones, waits_suspended, "it waits from the first")
    assert {one.row()["cluster"] for one in ones.values()} == {""}
    for one in ones.values():
        suspend(one, False)
    all_of(ones, Applied.runs, "it runs when it is let go", 90)
    for one in ones.values():
        suspend(one, True)
    all_of(ones, waits_suspended, "it is taken out of its member, and waits", 90)
    until(lambda: not fleet.members["north"].pods(tenant), "none of its pods is left")
    assert all("suspended by its owner" in one.row()["text"].lower() for one in ones.values())
    for one in ones.values():
        suspend(one, False)
    all_of(ones, Applied.runs, "it runs once more, of one attempt", 90)
    assert not {"failed", "cancelled"} & {verb for one in ones.values() for verb in one.verbs()}


def test_a_job_that_waits_is_passed_over_while_it_is_suspended(fleet: RealFleet, tenant: str) -> None:
    what = job("Job", tenant, "held")
    one = sent_to(fleet, what, "nowhere")
    one.waits("UnknownCluster")
    suspend(one, True)
    one.waits("Suspended")
    fleet.hub.apply(policy(what, "north"))
    until(lambda: "amended" in one.verbs(), "its policy is another")
    until(sent_to(fleet, job("Job", tenant, "later"), "north").runs, "a later one runs")
    assert waits_suspended(one)
    suspend(one, False)
    until(one.runs, "it runs when it is let go")
    assert [verb for verb in one.verbs() if verb == "held"] == ["held", "held"]


def test_what_fairway_shows_of_a_job_that_waits_is_no_wish_of_its_owner(fleet: RealFleet, tenant: str) -> None:
    ones = {}
    for kind in ("Job", "PyTorchJob"):
        ones[kind] = sent_to(fleet, made(kind, tenant), "nowhere")
    all_of(ones, lambda one: is_true(one.on_hub, "Suspended"), "it is shown as suspended")
    for one in ones.values():
        one.waits("UnknownCluster")  # it is shown as soon as it waits, for whatever first
        # A change that has nothing to do with it, so that the whole object is looked at.
        fleet.hub.kubectl("-n", tenant, "label", f"{one.plain.lower()}/{one.name}", "seen=yes")
        fleet.hub.apply(policy(one.on_hub, "north"))
    all_of(ones, Applied.runs, "it runs when its policy lets it")
    all_of(ones, lambda one: not is_true(one.on_hub, "Suspended"), "it is not shown as suspended any more")
    assert {verb for one in ones.values() for verb in one.verbs()} & {"held", "hold"} == set()
