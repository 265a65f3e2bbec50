"""A job, and a service, that fails in its only cluster, on its last attempt: the hub shows its bad end."""

import pytest
from msgspec import Struct

from tests.kubernetes.support.fleet import KINDS, Json, RealFleet, until
from tests.kubernetes.support.manifests import example
from tests.mappings import every_mapping


class Case(Struct, frozen=True):
    """`bad` is what `kubectl wait` calls the bad end on the hub. A service `never` ends by itself: it is given up."""

    kind: str
    file: str
    cluster: str
    bad: str
    service: bool = False


CASES = (
    Case("JAXJob", "JAXJob", "north", "condition=Failed"),
    Case("JobSet", "jobset.yaml", "north", "condition=Failed"),
    Case("TrainJob", "trainjob.yaml", "north", "condition=Failed"),
    Case("RayJob", "rayjob.yaml", "north", "jsonpath={.status.jobStatus}=FAILED"),
    Case("LeaderWorkerSet", "leaderworkerset.yaml", "north", "condition=Failed", service=True),
    Case("RayCluster", "raycluster.yaml", "north", "condition=Failed", service=True),
)


@pytest.mark.parametrize("case", CASES, ids=[one.kind for one in CASES])
def test_a_job_that_fails_shows_its_bad_end_on_the_hub(fleet: RealFleet, tenant: str, case: Case) -> None:
    *beside, job, policy = example(case.file, tenant, case.cluster)
    for one in (*beside, job):
        _fails(one, case)
    notes = {"fairway.io/max-attempts": "1", "fairway.io/start-timeout": "4s" if case.service else "1m"}
    policy["metadata"]["annotations"] = notes
    fleet.hub.apply(*beside, job, policy)
    name = job["metadata"]["name"]
    *group, version, plural = KINDS[case.kind].split("/")
    resource = ".".join((plural, version, *group))
    fleet.hub.kubectl("-n", tenant, "wait", f"{resource}/{name}", f"--for={case.bad}", "--timeout=90s")
    assert (fleet.explained("why", tenant, name) or {})["state"] == "failed"
    if case.service:
        until(lambda: not fleet.members[case.cluster].pods(tenant), "what was given up is gone")


def _fails(manifest: Json, case: Case) -> None:
    """At its first failure; some kinds would try again in place."""
    never = {"fairway.test/never-start-in-cluster": case.cluster}
    marks = never if case.service else {"fairway.test/exit-code": "3"}
    for one in every_mapping(manifest):
        if "fairway.test/run-for" in one:
            one.update(marks)
        spec = one.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            one["metadata"] = {"annotations": {**one.get("metadata", {}).get("annotations", {}), **marks}}
            if not case.service:
                spec["restartPolicy"] = "Never"
        for each in one.get("replicatedJobs", ()):
            each["template"]["spec"]["backoffLimit"] = 0
        if case.kind == "JAXJob" and "replicas" in one:
            one["restartPolicy"] = "Never"
