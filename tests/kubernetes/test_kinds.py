"""Every kind of job, from `kubectl apply` on the hub until nothing is left of it, run by its real operator.

The manifests are those of deploy/examples, where there is one. What a member needs a container for is played: see
kubereal/standin.
"""

import fcntl
from collections.abc import Callable
from functools import partial

import pytest
from msgspec import Struct

from tests.kubernetes.support.fleet import KINDS, Json, RealFleet, until
from tests.kubernetes.support.leftovers import everything
from tests.kubernetes.support.manifests import EXAMPLES, example

JOB_LABEL = "fairway.io/job"


class Case(Struct, frozen=True):
    """`cluster` is a member that serves the kind; `pods` are those of the whole job; `good` is what `kubectl wait`
    calls its good end on the hub, or of a service, that all of it is up."""

    kind: str
    file: str
    cluster: str
    pods: int
    good: str

    @property
    def resource(self) -> str:
        """As kubectl takes it: `plural.version.group`."""
        *group, version, plural = KINDS[self.kind].split("/")
        return ".".join((plural, version, *group)) if group else plural


CASES = (
    Case("Job", "job.yaml", "west", 4, "condition=Complete"),
    Case("Pod", "pod.yaml", "west", 1, "jsonpath={.status.phase}=Succeeded"),
    Case("Pod", "pod.yaml", "south", 1, "jsonpath={.status.phase}=Succeeded"),
    Case("PyTorchJob", "pytorchjob.yaml", "north", 4, "condition=Succeeded"),
    Case("PyTorchJob", "pytorchjob.yaml", "south", 4, "condition=Succeeded"),
    Case("TFJob", "tfjob.yaml", "west", 4, "condition=Succeeded"),
    Case("MPIJob", "MPIJob", "north", 3, "condition=Succeeded"),
    Case("JAXJob", "JAXJob", "north", 3, "condition=Succeeded"),
    Case("MXJob", "MXJob", "west", 3, "condition=Succeeded"),
    Case("PaddleJob", "PaddleJob", "north", 3, "condition=Succeeded"),
    Case("XGBoostJob", "XGBoostJob", "west", 3, "condition=Succeeded"),
    Case("VolcanoJob", "volcanojob.yaml", "south", 4, "jsonpath={.status.state.phase}=Completed"),
    Case(
        "SparkApplication", "sparkapplication.yaml", "north", 4, "jsonpath={.status.applicationState.state}=COMPLETED"
    ),
    Case("Workflow", "workflow.yaml", "north", 4, "jsonpath={.status.phase}=Succeeded"),
    Case("JobSet", "jobset.yaml", "north", 5, "condition=Completed"),
    Case("TrainJob", "trainjob.yaml", "north", 3, "condition=Complete"),
    Case("LeaderWorkerSet", "leaderworkerset.yaml", "north", 4, "condition=Available"),
    Case("AppWrapper", "appwrapper.yaml", "north", 3, "jsonpath={.status.phase}=Succeeded"),
    Case("RayJob", "rayjob.yaml", "north", 3, "jsonpath={.status.jobStatus}=SUCCEEDED"),
    Case("RayCluster", "raycluster.yaml", "north", 3, "jsonpath={.status.state}=ready"),
)
every_kind = pytest.mark.parametrize("case", CASES, ids=[f"{one.kind} in {one.cluster}" for one in CASES])


@pytest.fixture(scope="session")
def classes(fleet: RealFleet) -> None:
    """The PriorityClasses that the examples name, on the hub alone. One worker after another, as only one class may be
    the default."""
    with (fleet.dir.parent / "classes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fleet.hub.kubectl("apply", "--server-side", "-f", str(EXAMPLES / "priorityclasses.yaml"))


@every_kind
@pytest.mark.usefixtures("classes")
def test_a_job_applied_on_the_hub_runs_whole_in_one_member_and_shows_its_good_end_on_the_hub(
    fleet: RealFleet, tenant: str, case: Case
) -> None:
    *beside, job, policy = example(case.file, tenant, case.cluster)
    name = job["metadata"]["name"]
    member = fleet.members[case.cluster]

    fleet.hub.apply(*beside, job, policy)
    until(lambda: fleet.where(case.kind, tenant, name), f"{case.kind} {name} in a member")
    seen: dict[str, Json] = {}
    until(partial(_all_seen, partial(member.pods, tenant), seen, case.pods), f"{case.pods} pods in {case.cluster}")
    fleet.hub.kubectl("-n", tenant, "wait", f"{case.resource}/{name}", f"--for={case.good}", "--timeout=90s")

    assert fleet.where(case.kind, tenant, name) == [case.cluster], "one member, and the whole job there"
    assert not [one for one in fleet.hub.pods(tenant) if case.kind != "Pod" or one["spec"].get("nodeName")]
    there = member.job(case.kind, tenant, name)
    assert there and there["metadata"]["labels"][JOB_LABEL], "the object in the member says whose it is"
    mine = {one["metadata"]["labels"].get(JOB_LABEL) for one in seen.values()}
    assert mine == {there["metadata"]["labels"][JOB_LABEL]}, "and so does every pod"

    fleet.hub.kubectl("-n", tenant, "delete", f"{case.resource}/{name}", "--timeout=60s")
    _nothing_is_left(fleet, tenant, *beside, policy)


@every_kind
@pytest.mark.usefixtures("classes")
def test_a_running_job_deleted_on_the_hub_leaves_nothing_anywhere(fleet: RealFleet, tenant: str, case: Case) -> None:
    *beside, job, policy = example(case.file, tenant, case.cluster, run_for="1h")
    name = job["metadata"]["name"]
    member = fleet.members[case.cluster]

    fleet.hub.apply(*beside, job, policy)
    until(lambda: _running(member.pods(tenant)), f"a running pod of {case.kind} {name} in {case.cluster}")
    until(lambda: _state(fleet, tenant, name) == "running", f"Fairway reads its status as running, {name}")
    fleet.hub.kubectl("-n", tenant, "delete", f"{case.resource}/{name}", "--timeout=60s")

    _nothing_is_left(fleet, tenant, *beside, policy)


def _all_seen(pods: Callable[[], list[Json]], seen: dict[str, Json], count: int) -> bool:
    """Whether so many different pods have been there by now: those of a workflow come and go."""
    seen |= {one["metadata"]["name"]: one for one in pods()}
    return len(seen) >= count


def _running(pods: list[Json]) -> bool:
    return any(one["status"].get("phase") == "Running" for one in pods)


def _state(fleet: RealFleet, tenant: str, name: str) -> str:
    return str((fleet.explained("why", tenant, name) or {}).get("state"))


def _nothing_is_left(fleet: RealFleet, tenant: str, *beside: Json) -> None:
    """Of the job; the policy, and what the job refers to, are the user's, who deletes them."""
    for one in beside:
        scope = () if one["kind"].startswith("Cluster") else ("-n", tenant)
        group = one["apiVersion"].partition("/")[0]
        fleet.hub.kubectl(*scope, "delete", f"{one['kind']}.{group}/{one['metadata']['name']}")
    for api in (fleet.hub, *fleet.members.values()):
        until(lambda api=api: not everything(api, tenant), f"{api.name} is empty, which has {everything(api, tenant)}")
