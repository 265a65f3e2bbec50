"""Objects that are nothing to be submitted: held by their owners, where no job may be, over already, or going."""

from typing import Any

import pytest

from fairway.domain.tenancy.profile import SystemNamespaces
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.hub_objects import JOB, job, policy, thing

MOMENT = 300
TRAIN = job()
ALL = policy("all")
NOTE = {"annotations": {"scheduling.x-k8s.io/suspend": "true"}}


def like(one: HubObject, *, spec: Any = None, **metadata: Any) -> HubObject:
    """The same object with something else in its spec or metadata."""
    meta = {**one.manifest["metadata"], **metadata}
    return hub_object(one.kind, {**one.manifest, "metadata": meta, "spec": {**one.manifest["spec"], **(spec or {})}})


SUSPENDED = like(TRAIN, spec={"suspend": True})


def running(one: HubDriver, train: HubObject = TRAIN) -> Life:
    """Its job runs in c1."""
    life = dispatched(one, train)
    one.says(life, wire.Running, cluster="c1")
    return life


def dispatched(one: HubDriver, train: HubObject = TRAIN) -> Life:
    """Its job is in c1, and none of its pods runs yet."""
    life = one.admit(train)
    one.says(life, wire.Queue, queue="gold")
    one.says(life, wire.Dequeued, path=(), charge={})
    one.says(life, wire.Placed, cluster="c1", slots=())
    one.says(life, wire.Reserved, cluster="c1", slots=(), expires_at=one.now + 60_000)
    one.says(life, wire.Dispatched, cluster="c1", uid="u-9")
    return life


def test_a_new_object_that_is_suspended_is_held_until_its_owner_lets_it_go() -> None:
    one = HubDriver()
    one.apply(ALL, SUSPENDED)
    one.run(30_000)
    held = one.held(TRAIN)
    assert held is not None
    assert held.why.code is Code.SUSPENDED
    assert (one.said(wire.Submitted), one.events(TRAIN)) == ([], ["Suspended"])
    one.apply(like(TRAIN, spec={"suspend": False}))
    one.run(2 * MOMENT)
    assert len(one.submissions(TRAIN)) == 1
    assert one.held(TRAIN) is None


def test_what_kube_queue_suspends_is_submitted_for_its_owner_does_not_hold_it() -> None:
    one = HubDriver()
    one.apply(ALL, like(SUSPENDED, **NOTE))
    one.run(2 * MOMENT)
    assert len(one.submissions(TRAIN)) == 1


ELSEWHERE = {
    "of the system, and no policy selects it: nothing of Fairway's": ("kube-system", (), None),
    "of the system, though a policy selects it: held": ("kube-system", ("kube-system",), Code.RESERVED_NAMESPACE),
    "of a tenant": ("team-a", ("team-a",), None),
}


@pytest.mark.parametrize(("namespace", "policies", "want"), ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_where_no_tenant_s_job_may_be_nothing_is_submitted(
    namespace: str, policies: tuple[str, ...], want: Code | None
) -> None:
    one = HubDriver()
    train = job(namespace=namespace)
    one.apply(*[policy("all", namespace=each) for each in policies], train)
    one.run(30_000)
    held = one.held(train)
    assert (held.why.code if held else None) is want
    assert len(one.submissions(train)) == (namespace == "team-a")
    assert SystemNamespaces().takes_no_job(namespace) == (namespace != "team-a")


def test_an_object_that_was_over_before_fairway_saw_it_is_not_run() -> None:
    one = HubDriver()
    over = thing(JOB, "train", spec=TRAIN.manifest["spec"], status={"conditions": [on("Complete")]})
    one.apply(ALL, hub_object(JOB, over))
    one.run(30_000)
    assert (one.said(wire.Submitted), one.held(TRAIN)) == ([], None)


def on(kind: str) -> dict[str, str]:
    return {"type": kind, "status": "True"}


def test_the_child_of_another_job_is_no_job_of_its_own() -> None:
    one = HubDriver()
    owner = {"kind": "PyTorchJob", "apiVersion": "kubeflow.org/v1", "name": "t", "uid": "u", "controller": True}
    one.apply(ALL, like(TRAIN, ownerReferences=[owner]))
    one.run(30_000)
    assert (one.said(wire.Submitted), one.held(TRAIN)) == ([], None)


MOMENTS = {
    "before it was ripe": (0, 0),
    "while it waits for a policy": (1, 0),
    "submitted, and admission has not seen it": (2, 1),
    "admitted": (3, 1),
    "running": (4, 1),
    "succeeded: the member's object goes, too": (5, 1),
    "cancelled already: nothing of it is anywhere": (6, 0),
}


@pytest.mark.parametrize(("moment", "want"), MOMENTS.values(), ids=list(MOMENTS))
@pytest.mark.parametrize("looked", [True, False], ids=["", "while nobody looked"])
def test_an_object_that_is_deleted_takes_its_job_and_its_traces_with_it(moment: int, want: int, looked: bool) -> None:
    one = HubDriver()
    brought(one, moment)
    if looked:
        one.delete(TRAIN)
        one.run(5_000)
    else:
        del one.hub.objects[JOB, "team-a", "train"]
        one.restart()
        one.run(5_000)
        want = want if moment in (3, 4) else 0  # of what is not in the store, or over, nobody knows then
    assert len(one.said(wire.Cancel)) == want
    assert one.held(TRAIN) is None
    assert [key for key in one.hub.objects if key[0].startswith("ResourceBinding")] == []
    assert one.inbox.open == {}, "all words are acknowledged"


def brought(one: HubDriver, moment: int) -> None:
    """So far."""
    one.apply(TRAIN, *([ALL] if moment > 1 else []))
    one.run(4_000 if moment else 0)
    life = {3: one.admit, 4: lambda each: running(one, each), 5: lambda each: running(one, each)}.get(moment)
    made = life(TRAIN) if life else None
    if moment == 5 and made is not None:
        one.says(made, wire.Succeeded, cluster="c1", status={"succeeded": 1})
    if moment == 6:
        one.says(made := one.admit(TRAIN), wire.Queue, queue="gold")
        one.says(made, wire.Cancelled, who="ann")
    one.run(4_000 if moment else 0)


def test_an_object_that_was_made_anew_while_nobody_looked_ends_the_job_of_the_old_one() -> None:
    one = HubDriver()
    brought(one, 4)
    new = hub_object(JOB, thing(JOB, "train", spec=TRAIN.manifest["spec"], metadata={"uid": "u-new"}))
    one.hub.objects[JOB, "team-a", "train"] = {**new.manifest}
    one.restart()
    one.run(5_000)
    (said,) = one.said(wire.Cancel)
    assert said.job == one.submissions(TRAIN)[0].job
    assert one.submissions(new) == [], "the name is still that of the old one"


def test_what_the_hub_does_not_serve_for_now_was_not_deleted() -> None:
    one = HubDriver()
    brought(one, 4)
    kept = one.hub.objects.pop((JOB, "team-a", "train"))
    one.hub.served.discard(JOB)
    one.restart()
    one.run(5_000)
    assert one.said(wire.Cancel) == []
    one.hub.objects[JOB, "team-a", "train"] = kept
    one.see([(JOB, "team-a", "train")])
    one.run(5_000)
    assert one.said(wire.Cancel) == []


def test_a_deletion_that_nobody_saw_before_the_job_was_known_is_not_forgotten() -> None:
    one = HubDriver()
    brought(one, 2)
    del one.hub.objects[JOB, "team-a", "train"]
    one.restart()
    one.run(5_000)
    one.says(one.admit(TRAIN), wire.Queue, queue="gold")
    one.run(5_000)
    assert len(one.said(wire.Cancel)) == 1
    assert one.inbox.open == {}
