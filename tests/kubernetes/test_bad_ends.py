"""A job, and a service, that fails in its only cluster, on its last attempt: the hub shows its bad end."""

import pytest

from tests.kubernetes.support.fleet import Json, RealFleet, resource_of, until
from tests.kubernetes.support.manifests import EXAMPLES_OF_KINDS, Example, example
from tests.mappings import every_mapping

RETRIES = "workload.codeflare.dev.appwrapper/retryLimit"


# In test_status.py and test_single_pods.py.
SHOWN_ELSEWHERE = ("Job", "Pod")
# Of these a role says whether a pod that failed is made anew, and not its pods.
KUBEFLOW = ("JAXJob", "MPIJob", "MXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
CASES = [one for one in EXAMPLES_OF_KINDS if one.kind not in SHOWN_ELSEWHERE]


@pytest.mark.usefixtures("classes")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_job_that_fails_shows_its_bad_end_on_the_hub(fleet: RealFleet, tenant: str, case: Example) -> None:
    *beside, job, policy = example(case.file, tenant, case.cluster)
    for one in (*beside, job):
        _fails(one, case)
    notes = {"fairway.io/max-attempts": "1", "fairway.io/start-timeout": "4s" if case.service else "1m"}
    policy["metadata"]["annotations"] = notes
    fleet.hub.apply(*beside, job, policy)
    name = job["metadata"]["name"]
    fleet.hub.kubectl("-n", tenant, "wait", f"{resource_of(case.kind)}/{name}", f"--for={case.bad}", "--timeout=90s")
    assert (fleet.explained("why", tenant, name) or {})["state"] == "failed"
    if case.service:
        until(lambda: not fleet.members[case.cluster].pods(tenant), "what was given up is gone")


def _fails(manifest: Json, case: Example) -> None:
    """At its first failure; some kinds would try again in place."""
    never = {"fairway.test/never-start-in-cluster": case.cluster}
    marks = never if case.service else {"fairway.test/exit-code": "3"}
    for one in every_mapping(manifest):
        if RETRIES in one:
            one[RETRIES] = "0"
        if "fairway.test/run-for" in one:
            one.update(marks)
        spec = one.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            one["metadata"] = {"annotations": {**one.get("metadata", {}).get("annotations", {}), **marks}}
            if not case.service:
                spec["restartPolicy"] = "Never"
        for each in one.get("replicatedJobs", ()):
            each["template"]["spec"]["backoffLimit"] = 0
        if case.kind in KUBEFLOW and "replicas" in one:
            one["restartPolicy"] = "Never"
