"""Jobs of the hub on their way in: when they are submitted, what holds them, and what becomes of those that go."""

import pytest

from fairway.domain.names import job_id
from fairway.domain.tenancy.submission_limits import Limits
from fairway.hub.intake.after_turn import PENDING_MS
from fairway.hub.intake.turns import in_turn
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life, spec
from tests.spec.hub.hub_objects import CLASS, JOB, Json, job, policy, thing

MOMENT = 300
TRAIN = job()
ALL = policy("all")


def tenants(driver: HubDriver) -> list[str]:
    return sorted(said.tenant for said in driver.said(wire.Submitted))


def high() -> HubObject:
    return hub_object(CLASS, {**thing(CLASS, "high", ""), "value": 1_000})


def test_a_policy_that_comes_while_other_jobs_are_submitted_finds_the_job_that_waits_for_it() -> None:
    one = HubDriver()
    one.apply(policy("wide"), job(), job(namespace="team-b"))
    one.run(MOMENT)
    assert tenants(one) == ["team-a"]
    one.apply(policy("late", namespace="team-b"))
    one.run(MOMENT)
    assert tenants(one) == ["team-a", "team-b"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["policy first", "job first"])
@pytest.mark.parametrize("apart", [0, 100], ids=["in one breath", "one after the other"])
def test_what_is_applied_together_goes_in_together(order: tuple[int, int], apart: int) -> None:
    one = HubDriver()
    for at in order:
        one.apply((ALL, TRAIN)[at])
        one.run(apart)
    one.run(2 * MOMENT)
    (said,) = one.submissions(TRAIN)
    assert len(said.policies) == 1
    assert one.held(TRAIN) is None
    one.run(60_000)
    assert len(one.said(wire.Submitted)) == 1, "once"


def test_a_job_without_a_policy_is_held_and_told_so_unless_one_comes_in_time() -> None:
    one = HubDriver()
    one.apply(TRAIN)
    one.run(MOMENT)
    held = one.held(TRAIN)
    assert held is not None
    assert (held.why.code, held.job) == (Code.NO_POLICY, job_id("team-a", f"hub:{TRAIN.uid}", "train"))
    assert one.events(TRAIN) == [], "not yet: it may be on its way"
    one.run(5_000)
    assert one.events(TRAIN) == ["NoPolicy"]
    assert one.conditions(TRAIN)["Queuing"] == ("True", "NoPolicy")
    one.apply(ALL)
    one.run(2 * MOMENT)
    assert len(one.submissions(TRAIN)) == 1
    assert one.held(TRAIN) is None


def test_a_job_that_names_a_class_which_is_not_there_waits_for_it() -> None:
    one = HubDriver()
    pod: Json = {"restartPolicy": "Never", "priorityClassName": "high", "containers": [{"name": "m", "image": "x"}]}
    train = hub_object(JOB, thing(JOB, "train", spec={"template": {"spec": pod}}))
    one.apply(ALL, train)
    one.run(MOMENT)
    held = one.held(train)
    assert held is not None
    assert held.why.code is Code.UNKNOWN_PRIORITY_CLASS
    one.apply(high())
    one.run(2 * MOMENT)
    assert len(one.submissions(train)) == 1


def test_the_hub_keeps_what_a_tenant_may_not_submit_yet_and_others_are_not_kept_waiting() -> None:
    one = HubDriver({"team-a": Limits(pending=2)})
    mine = [job(f"a{number}") for number in range(4)]
    one.apply(ALL, policy("all", namespace="team-b"), *mine, job("b", namespace="team-b"))
    one.run(MOMENT)
    assert tenants(one) == ["team-a", "team-a", "team-b"]
    lives = [one.admit(each) for each in mine if one.submissions(each)]
    kept = [each for each in mine if (held := one.held(each)) and held.why.code is Code.TOO_MANY_PENDING]
    assert len(kept) == 2
    one.run(30_000)
    assert len(tenants(one)) == 3, "nothing has changed"
    assert [one.events(each) for each in kept] == [["TooManyPending"]] * 2, "each is told once"
    one.says(lives[0], wire.Queue, queue="gold")
    one.says(lives[0], wire.Cancelled, who="ann")
    one.delete(kept[1])
    one.run(PENDING_MS + 1_000)
    assert tenants(one) == ["team-a"] * 3 + ["team-b"]
    assert [one.held(each) for each in mine] == [None] * 4


def test_the_hub_s_jobs_go_at_the_rate_of_their_tenant() -> None:
    one = HubDriver({"team-a": Limits(rate=2)})
    one.apply(ALL, *[job(f"a{number}") for number in range(5)])
    counts = []
    for ms in (MOMENT, 1_000, 1_000):
        one.run(ms)
        counts.append(len(tenants(one)))
    assert counts == [2, 4, 5]


def test_tenants_take_turns() -> None:
    names = ("a", "0"), ("a", "1"), ("a", "2"), ("b", "x"), ("c", "y")
    objects = [job(name, namespace=tenant) for tenant, name in names]
    assert [f"{one.namespace}{one.name}" for one in in_turn(objects)] == ["a0", "bx", "cy", "a1", "a2"]


def mpi(version: str, written: str = "v2beta1") -> HubObject:
    """One object, as the watch of one of its versions shows it."""
    template = {"spec": {"containers": [{"name": "mpi", "image": "x"}]}}
    replicas = {"Launcher": {"replicas": 1, "template": template}, "Worker": {"replicas": 1, "template": template}}
    status = {"manager": "operator", "apiVersion": "kubeflow.org/v1", "subresource": "status", "time": "2026-01-01"}
    label = {"manager": "label", "apiVersion": "kubeflow.org/v1", "time": "2026-01-02", "fieldsV1": {"f:metadata": {}}}
    user = {"manager": "me", "apiVersion": f"kubeflow.org/{written}", "time": "2026-01-03", "fieldsV1": {"f:spec": {}}}
    by = {"managedFields": [status, label, user]}
    kind = f"MPIJob.kubeflow.org/{version}"
    return hub_object(kind, thing(kind, "allreduce", spec={"mpiReplicaSpecs": replicas}, metadata=by))


@pytest.mark.parametrize("order", [("v1", "v2beta1"), ("v2beta1", "v1")])
@pytest.mark.parametrize("policy_first", [True, False])
def test_a_job_whose_hub_serves_two_versions_of_it_is_the_one_that_was_written(
    order: tuple[str, str], policy_first: bool
) -> None:
    one = HubDriver()
    chosen = policy("p", {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob"})
    if policy_first:
        one.apply(chosen)
    one.apply(*map(mpi, order))
    one.run(1_000)
    if not policy_first:
        assert one.said(wire.Submitted) == []
        one.apply(chosen)
        one.run(1_000)
    (said,) = one.said(wire.Submitted)
    assert b'"kubeflow.org/v2beta1"' in bytes(said.manifest)


def test_an_object_that_does_not_say_how_it_was_written_is_what_it_was_first_seen_as() -> None:
    one = HubDriver()
    first = mpi("v2beta1", written="v9")
    second = mpi("v1", written="v9")
    one.apply(first, second)
    one.run(1_000)
    known = one.memory.objects[first.uid]
    assert known.one.kind == "MPIJob.kubeflow.org/v2beta1"
    one.delete(second)
    one.run(1_000)
    assert first.uid in one.memory.objects, "one of its versions is no longer served"
    one.delete(first)
    one.run(1_000)
    assert first.uid not in one.memory.objects


def other_job(name: str = "train") -> Life:
    """A job of another door."""
    made = spec(name)
    work = type(made.workload)("batch/v1", "Job", "team-a", name, made.workload.pod_sets, 1)
    asks = type(made)(workload=work, policy="p", placement=made.placement, manifest=made.manifest)
    return Life("other-1").then(wire.Admitted, attempt=1, spec=asks).then(wire.Queue, queue="gold")


def test_a_name_that_another_job_has_is_waited_for_and_free_as_soon_as_that_one_has_ended() -> None:
    one = HubDriver()
    life = other_job()
    one.record.takes_name(life)
    one.apply(ALL, TRAIN)
    one.run(2_000)
    held = one.held(TRAIN)
    assert held is not None
    assert (held.why.code, held.holder) == (Code.DUPLICATE, "other-1")
    one.run(30_000)
    assert one.events(TRAIN) == ["Duplicate"]
    one.says(life, wire.Cancelled, who="ann")
    one.run(10)
    assert len(one.submissions(TRAIN)) == 1
    assert one.held(TRAIN) is None


def test_a_name_that_was_free_before_anybody_said_so_is_looked_at_now_and_then() -> None:
    one = HubDriver()
    life = other_job()
    one.record.takes_name(life)
    one.apply(ALL, TRAIN)
    one.run(2_000)
    one.record.follow(life.then(wire.Cancelled, who="ann"))
    one.run(PENDING_MS + 1_000)
    assert len(one.submissions(TRAIN)) == 1
