"""Who is inside his min gets his room back, and what is above min goes by weight."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code
from tests.scenarios.evictions.tenants import evicted, least, shares, submit, tree, until_running
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, running, runs

# GPUs of a job whose tenant competes with others by weight.
SIZES = (1, 1, 2, 2, 3, 4, 6, 8)
# Of ACK's example.
LEAF = {"min": {GPU: 10}, "max": {GPU: 20}}


def parent(*leaves: str) -> dict[str, Any]:
    """A node of ACK's example above these."""
    children = [{"name": name, "namespaces": [f"team-{name}"], **LEAF} for name in leaves]
    return {"min": {GPU: 20}, "max": {GPU: 40}, "children": children}


async def test_who_is_inside_his_min_gets_his_room_back_from_a_borrower(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8))
    borrowed = [await submit(fleet, f"b{number}", 1, namespace="team-b") for number in range(3)]
    assert set(fleet.states().values()) == {"running"}
    mine = await submit(fleet, "mine", 1, namespace="team-a")
    job = await until_running(fleet, mine)
    assert job.state == "running"
    (victim,) = evicted(fleet)
    assert (victim.right, victim.leaf, victim.level, victim.own_level) == (Cause.RECLAIM, "root/a", 2, 0)
    assert victim.job in borrowed[1:], "the first is within their own min"
    back = fleet.jobs()[victim.job]
    assert (back.attempt, back.state) == (2, "queued")
    assert back.enqueued_at == fleet.jobs()[victim.job].submitted_at
    assert back.attempts[0].why is not None
    assert back.attempts[0].why.code is Code.RECLAIMED


async def test_a_gang_gets_whole_nodes_of_one_cluster(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8))
    for number in range(6):
        await submit(fleet, f"b{number}", 1, 4, namespace="team-b")
    mine = await submit(fleet, "mine", 2, namespace="team-a")
    job = await until_running(fleet, mine)
    assert (job.state, job.cluster) == ("running", "c1")
    assert len(evicted(fleet)) == 4
    assert {one.cluster for one in evicted(fleet)} == {"c1"}


async def test_a_borrower_waits_and_evicts_nobody(fleet: Fleet) -> None:
    tree(fleet, a=least(8), b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    await submit(fleet, "one", 1, namespace="team-a")
    await submit(fleet, "two", 1, namespace="team-a")
    await fleet.quiet(60)
    assert len(evicted(fleet)) == 1
    assert fleet.states()["two"] == "queued"


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(dict.fromkeys(("a1", "a2", "b1", "b2"), LEAF), id="its leaves below the root"),
        pytest.param({"a": parent("a1", "a2"), "b": parent("b1", "b2")}, id="two below each of two nodes, as there"),
    ],
)
async def test_the_example_of_the_product(fleet: Fleet, nodes: dict[str, Any]) -> None:
    """ACK's elastic quota: pods of 5 in leaves of min 10 and max 20, of 40 in all: 3, 3, 2, and then 2 each."""
    tree(fleet, 40, **nodes)
    for cluster, agent in fleet.agents.items():
        for name, node in agent.nodes.items():
            agent.nodes[name] = replace(node, allocatable={**node.allocatable, GPU: 15 if cluster == "c1" else 10})
        await agent.report(full=True)
    for name in ("a1", "a2"):
        for number in range(5):
            await submit(fleet, f"{name}-{number}", 1, 5, namespace=f"team-{name}")
    assert shares(fleet) == {"a1": 4, "a2": 4}
    for number in range(5):
        await submit(fleet, f"b1-{number}", 1, 5, namespace="team-b1")
    await fleet.quiet(30)
    assert shares(fleet) == {"a1": 3, "a2": 3, "b1": 2}
    for number in range(5):
        await submit(fleet, f"b2-{number}", 1, 5, namespace="team-b2")
    await fleet.quiet(30)
    assert shares(fleet) == {"a1": 2, "a2": 2, "b1": 2, "b2": 2}


async def test_room_is_got_back_where_quota_is_not_short(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8), total=48)
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    job = await until_running(fleet, await submit(fleet, "mine", 1, namespace="team-a"))
    assert (job.state, len(evicted(fleet))) == ("running", 1)


async def test_a_job_that_is_not_preemptible_stays_and_goes_only_within_min(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8))
    fixed = {"quota.scheduling.koordinator.sh/preemptible": "false"}
    await submit(fleet, "fixed", 1, namespace="team-b", labels=fixed)
    await submit(fleet, "more", 1, namespace="team-b", labels=fixed)
    assert fleet.states() == {"fixed": "running", "more": "queued"}
    for number in range(2):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    job = await until_running(fleet, await submit(fleet, "mine", 2, namespace="team-a"))
    assert job.state == "running"
    assert fleet.states() == {"b0": "queued", "b1": "queued", "fixed": "running", "mine": "running", "more": "queued"}


async def test_what_a_node_does_not_lend_stays_idle(fleet: Fleet) -> None:
    lends = '{"nvidia.com/gpu": 8}'
    tree(fleet, a={"min": {GPU: 16}, "attributes": {"alibabacloud.com/lendlimit": lends}}, b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    assert shares(fleet) == {"b": 2}
    await submit(fleet, "mine", 1, namespace="team-a")
    await fleet.quiet(5)
    assert (shares(fleet), len(evicted(fleet))) == ({"a": 1, "b": 2}, 0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("order", "by_weight"), [("share", True), ("time", False)])
async def test_what_is_above_min_goes_by_weight_within_one_largest_job_where_shares_decide(
    order: str, by_weight: bool, seed: int
) -> None:
    """Jobs of mixed sizes come and end all the time, and of each tenant some wait for 96 GPUs."""
    weights = {"x": 1, "y": 2, "z": 3}
    async with running(c1=(32, 32), c2=(32,)) as fleet:
        leaves = {name: {"attributes": {"fairway.io/weight": str(weight)}} for name, weight in weights.items()}
        tree(fleet, 96, order, **leaves)
        rng = Random(seed)
        await come(fleet, rng, 40)
        for _ in range(5):
            await fleet.quiet(20)
            await come(fleet, rng, 10)
        off = []
        for _ in range(6):
            await fleet.quiet(20)
            used = {name: sum(gpus(fleet, name, "running")) for name in weights}
            assert all(gpus(fleet, name, "queued") for name in weights)
            off += [abs(used[name] - 16 * weight) for name, weight in weights.items()]
            await come(fleet, rng, 10)
        assert fleet.findings().violations == ()
    assert (max(off) <= max(SIZES)) is by_weight


async def come(fleet: Fleet, rng: Random, jobs: int) -> None:
    """So many of each tenant, of one pod each that runs for 30 to 90 s."""
    for number in range(jobs):
        for name in "xyz":
            job = f"{name}{number}-{fleet.clock.now()}"
            fleet.plays[job] = [runs(rng.randrange(30_000, 90_000))]
            await fleet.submit(job, 1, rng.choice(SIZES), namespace=f"team-{name}")


def gpus(fleet: Fleet, leaf: str, state: str) -> list[int]:
    """What its jobs in this state ask for."""
    jobs = [job for job in fleet.jobs().values() if job.leaf[-1] == f"root/{leaf}" and job.state == state]
    return [job.spec.workload.pod_sets[0].requests[GPU] for job in jobs if job.spec is not None]
