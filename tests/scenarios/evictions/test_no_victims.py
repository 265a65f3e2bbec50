"""Where nobody's leaving would help, nobody leaves, and the owner of the job is told why in numbers."""

import pytest
from msgspec.structs import replace

from fairway.explain.why import why
from tests.scenarios.evictions.tenants import evicted, kept, least, shares, submit, tree
from tests.scenarios.memory_fleet import Fleet

MODEL = "nvidia.com/gpu.product"
WANTS = "needs 1 pod of 8 nvidia.com/gpu"
NONE = f"{WANTS}; no node there is one that all these pods may be on"


async def models(fleet: Fleet, first: str) -> None:
    """The GPU model of the first node of c1; all others are A100."""
    for cluster, agent in fleet.agents.items():
        for name, node in agent.nodes.items():
            model = first if (cluster, name) == ("c1", "n0") else "A100"
            agent.nodes[name] = replace(node, labels={MODEL: model})
        await agent.report(full=True)
    await fleet.quiet()


@pytest.mark.parametrize(
    ("first", "says"),
    [
        pytest.param(
            "A100",
            f"none of 2 clusters could take it now if all of 2 candidates went: c1: {NONE}; c2: {NONE}",
            id="no cluster has a node of that model",
        ),
        pytest.param(
            "H100",
            f"{WANTS}; 1 of 2 clusters have too little room, nearest is c1: if all of 2 candidates went that "
            "may, 1 of its 1 pods would have no room",
            id="the only node of that model is of a job within the min of its leaf",
        ),
    ],
)
async def test_a_job_for_another_model_than_borrowers_have_evicts_nobody_and_why_says_so_in_numbers(
    fleet: Fleet, first: str, says: str
) -> None:
    await models(fleet, first)
    tree(fleet, a=least(16), b=least(8))
    await submit(fleet, "own", 1, namespace="team-b", selector={MODEL: first})
    for number in range(2):
        await submit(fleet, f"b{number}", 1, namespace="team-b", selector={MODEL: "A100"})
    assert shares(fleet) == {"b": 3}
    mine = await submit(fleet, "mine", 1, namespace="team-a", selector={MODEL: "H100"})
    await fleet.quiet(30)
    job = fleet.jobs()[mine]
    assert job.claim is not None
    because = why(job, None, fleet.clock.now()).because
    assert because.endswith(f"nobody was evicted for it (claim {job.claim.number}): {says}.")
    assert (shares(fleet), evicted(fleet), kept(fleet)) == ({"b": 3}, [], [])
