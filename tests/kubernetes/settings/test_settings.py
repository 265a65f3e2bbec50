"""Policies, quota, queues and priorities changed on a real hub take effect at once, and say whether they did."""

from collections.abc import AsyncIterator

import pytest_asyncio

from fairway.workloads.crds import definitions
from tests.kubernetes.settings.fleet import JOBS, TENANT, House, Json, opened, policy, queue, quota_tree
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.own_hub import CRDS, define

CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}


@pytest_asyncio.fixture
async def house(settings_hub: Api) -> AsyncIterator[House]:
    async with opened(settings_hub, north=(8,), south=(8,)) as one:
        yield one


def tree(gpus: int, name: str = "tree") -> Json:
    amounts = {"nvidia.com/gpu": gpus}
    return quota_tree({"max": amounts, "children": [{"name": "a", "namespaces": [TENANT], "max": amounts}]}, name)


async def test_a_waiting_job_goes_where_its_policy_allows_it_now(house: House) -> None:
    await house.apply(policy("first", "north"), policy("second", "north"))
    await house.job("first")
    assert await house.runs_in("first") == "north"
    await house.job("second")
    await house.lacks("second", "WaitingForRoom")
    await house.apply(policy("second", "north", "south"))
    assert await house.runs_in("second") == "south"
    said = house.said("second")
    assert said.index("amended") < said.index("placed", said.index("amended"))
    assert said.count("amended") == 1
    assert [one.text for one in house.fleet.findings().violations] == []
    assert house.fleet.folded().rows["jobs"] == {
        key: (row.rev, row.data) for key, row in house.fleet.store.rows["jobs"].items()
    }


async def test_a_job_that_runs_stays_when_its_policy_changes(house: House) -> None:
    await house.apply(policy("first", "north"))
    await house.job("first")
    assert await house.runs_in("first") == "north"
    await house.apply(policy("first", "south"), policy("later", "south"))
    await house.job("later")
    assert await house.runs_in("later") == "south"
    assert "amended" not in house.said("first")
    assert await house.runs_in("first") == "north"


async def test_quota_that_is_raised_lets_a_job_go_and_quota_that_is_lowered_ends_none(house: House) -> None:
    await house.apply(tree(8), *(policy(name) for name in ("first", "second", "third")))
    await house.ready(tree(8))
    await house.job("first")
    await house.runs_in("first")
    await house.job("second")
    await house.lacks("second", "WaitingForQuota")
    await house.apply(tree(16))
    await house.runs_in("second")
    await house.apply(tree(12))
    await house.until(lambda: _most(house) == 12, "the tree is lowered")
    await house.job("third", 4)
    await house.lacks("third", "WaitingForQuota")
    assert [await house.runs_in(name) for name in ("first", "second")] == ["north", "south"]
    assert not {"recall", "failed", "lost"} & {*house.said("first"), *house.said("second")}


def _most(house: House) -> int:
    return house.fleet.catalog.tree.max.get("nvidia.com/gpu", 0) if house.fleet.catalog.tree else 0


async def test_a_queue_that_no_longer_blocks_lets_those_behind_its_head_go(house: House) -> None:
    named = {"annotations": {"kube-queue/queue-name": "gold"}}
    await house.apply(queue("Block"), *(policy(name, "north") for name in ("first", "head", "behind")))
    await house.ready(queue("Block"))
    await house.job("first", 4)
    await house.runs_in("first")
    await house.job("head", 8, **named)
    await house.lacks("head", "WaitingForRoom")
    await house.job("behind", 4, **named)
    await house.until(lambda: "queue" in house.said("behind"), "the job waits")
    await house.fleet.quiet(1)
    assert "dequeued" not in house.said("behind")
    await house.apply(queue("Priority"))
    await house.runs_in("behind")


async def test_a_queue_that_becomes_one_of_time_alone_lets_the_oldest_go_first(house: House) -> None:
    named = {"annotations": {"kube-queue/queue-name": "gold"}}
    names = ("first", "old", "urgent")
    await house.apply({**CLASS, "metadata": {"name": "high"}, "value": 10}, *(policy(name, "north") for name in names))
    await house.apply(queue("Block"))
    await house.ready(queue("Block"))
    await house.until(lambda: "high" in house.fleet.catalog.classes.values, "the class is known")
    await house.job("first", 8)
    await house.runs_in("first")
    await house.job("old", 8, **named)
    await house.lacks("old", "WaitingForRoom")
    await house.job("urgent", 8, priority="high", **named)
    await house.lacks("urgent", "WaitingForRoom")
    await house.apply(queue("FIFO"))
    await house.until(lambda: house.fleet.catalog.queues["gold"].by_time, "the queue is another")
    house.hub.delete(f"batch/v1/namespaces/{TENANT}/jobs/first", propagationPolicy="Background")
    assert await house.runs_in("old") == "north"
    assert house.row("urgent").state == "queued"  # type: ignore[union-attr]  # it is there


async def test_a_queue_that_is_deleted_takes_no_more_jobs_until_it_is_there_again(house: House) -> None:
    named = {"annotations": {"kube-queue/queue-name": "gold"}}
    await house.apply(queue("Priority"), policy("first"), policy("late"))
    await house.ready(queue("Priority"))
    await house.job("first", **named)
    await house.runs_in("first")
    house.hub.kubectl("delete", "queue", "gold", "-n", "kube-queue")
    await house.until(lambda: "gold" not in house.fleet.catalog.queues, "the queue is gone")
    await house.job("late", **named)
    told = await house.until(lambda: house.events("late"), "it is told what it waits for")
    assert [one["reason"] for one in told] == ["UnknownQueue"]
    assert house.row("late") is None
    await house.apply(queue("Priority"))
    await house.runs_in("late")


async def test_another_priority_holds_for_the_jobs_that_come_later(house: House) -> None:
    await house.apply({**CLASS, "metadata": {"name": "high"}, "value": 10}, policy("before"), policy("after"))
    await house.until(lambda: house.fleet.catalog.classes.values.get("high") == 10, "the class is known")
    await house.job("before", priority="high")
    await house.runs_in("before")
    house.hub.kubectl("delete", "priorityclass", "high")
    await house.apply({**CLASS, "metadata": {"name": "high"}, "value": 99})
    await house.until(lambda: house.fleet.catalog.classes.values.get("high") == 99, "the class is another")
    await house.job("after", priority="high")
    await house.runs_in("after")
    assert [house.row(name).spec.priority for name in ("before", "after")] == [10, 99]  # type: ignore[union-attr]  # both are there


async def test_kubectl_sees_what_is_in_force_and_can_wait_for_it(house: House) -> None:
    wide = policy("first", "north")
    del wide["spec"]["resourceSelectors"][0]["name"]  # of one that names its jobs nothing is said while it is good
    await house.apply(wide, tree(8), queue("Block"))
    for one in (wide, tree(8), queue("Block")):
        assert (await house.ready(one))["reason"] == "InForce"
    house.hub.kubectl("wait", "--for=condition=Ready", "pp/first", "-n", TENANT, "--timeout=10s")
    shown = house.hub.kubectl("get", "pp,queues,eqtree", "-A")
    assert [line.split()[3] for line in shown.splitlines() if line and "READY" in line] == ["PRIORITY", "POLICY", "MIN"]
    assert shown.count("True") == 3
    before = house.hub.get(f"policy.karmada.io/v1alpha1/namespaces/{TENANT}/propagationpolicies/first")
    await house.fleet.quiet(1)
    assert house.hub.get(f"policy.karmada.io/v1alpha1/namespaces/{TENANT}/propagationpolicies/first") == before


async def test_what_only_fairway_can_see_is_said_on_the_object_and_put_right(house: House) -> None:
    bad = policy("first", annotations={"fairway.io/start-timeout": "soon"})
    await house.apply(bad)
    refused = await house.ready(bad, "False")
    assert (refused["reason"], refused["observedGeneration"]) == ("Invalid", 1)
    assert "'soon' is not a duration" in refused["message"]
    events = await house.until(lambda: house.events("first"), "an event")
    assert [(one["reason"], one["type"]) for one in events] == [("Refused", "Warning")]
    assert "soon" in house.hub.kubectl("describe", "pp", "first", "-n", TENANT)
    await house.apply(policy("first", annotations={"fairway.io/start-timeout": "90s"}))
    assert (await house.ready(bad))["lastTransitionTime"] >= refused["lastTransitionTime"]
    assert len(house.events("first")) == 1


READY = '{.status.conditions[?(@.type=="Ready")].message}'


async def test_kubectl_shows_what_of_a_setting_has_no_effect_and_what_nobody_knows(house: House) -> None:
    first = queue("Block")
    first["spec"]["admissionChecks"] = [{"name": "x"}]
    house.hub.apply(first)
    await house.ready(first)
    said = house.hub.kubectl("get", "queues.scheduling.x-k8s.io", "gold", "-n", "kube-queue", "-o", f"jsonpath={READY}")
    why = "spec.admissionChecks (jobs are let go without such checks)"
    assert said == f"in force in the whole fleet; without effect: {why}"
    misspelt = policy("first")
    misspelt["spec"]["placement"] = {"spreadConstraints": [{"maxGroup": 1}]}
    house.hub.apply(misspelt)
    await house.ready(misspelt, "False")
    said = house.hub.kubectl("get", "pp", "first", "-n", TENANT, "-o", f"jsonpath={READY}")
    assert "spec.placement.spreadConstraints[0].maxGroup: is not a known field" in said
    assert "known: spreadByField, spreadByLabel, minGroups, maxGroups" in said
    changed = tree(8)
    changed["spec"]["root"]["children"][0] |= {"attributes": {"resourceflavors": "x"}}
    house.hub.apply(changed)
    await house.ready(changed)
    assert "resourceflavors (a quota counts" in house.hub.kubectl("get", "eqtree", "-n", "kube-system", "-o", "wide")


async def test_a_second_tree_waits_for_the_first_to_go(house: House) -> None:
    await house.apply(tree(8))
    await house.ready(tree(8))
    await house.apply(tree(16, "other"))
    refused = await house.ready(tree(16, "other"), "False")
    assert refused["reason"] == "AnotherInForce"
    assert _most(house) == 8
    house.hub.kubectl("delete", "eqtree", "tree", "-n", "kube-system")
    await house.ready(tree(16, "other"))
    await house.until(lambda: _most(house) == 16, "the other tree is in force")


async def test_a_hub_that_loses_its_definitions_and_gets_them_again_goes_on(house: House) -> None:
    await house.apply(policy("first"))
    await house.until(lambda: house.fleet.catalog.policies.index, "the policy is in force")
    try:
        for name in definitions():
            house.hub.delete(f"{CRDS}/{name}")
        until(lambda: not house.hub.items(CRDS), "the definitions are gone")
        await house.until(lambda: not house.fleet.catalog.policies.index, "no policy is in force")
        await house.job("first")
        events = await house.until(lambda: house.events("first"), "the job is told why it waits")
        assert events[0]["reason"] == "NoPolicy"
    finally:
        until(lambda: not house.hub.items(CRDS), "the definitions are gone")
        define(house.hub)
    await house.apply(policy("first"))
    await house.runs_in("first")
    assert house.hub.items(f"batch/v1/namespaces/{TENANT}/jobs"), JOBS
