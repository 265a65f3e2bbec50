"""Jobs that an operator lets grow by itself are charged what they may grow to, and start with what they start with."""

from typing import Any

import pytest

from fairway.workloads.kinds import registry
from tests.cases.good_jobs import kubeflow, ray_job, spark
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import but
from tests.spec.workloads.builders import refusal

_METRICS = [{"type": "Resource", "resource": {"name": "cpu"}}]


def pytorch(**elastic: Any) -> Json:
    made = kubeflow("PyTorchJob", "pytorch", "Worker")()
    made["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 2
    made["spec"]["elasticPolicy"] = elastic
    return made


def growing(**dynamic: Any) -> Json:
    return but(spark(), "spec.dynamicAllocation", {"enabled": True, "initialExecutors": 2, **dynamic})


def by_conf(**conf: str) -> Json:
    made = growing(enabled=False, maxExecutors=3)
    made["spec"]["sparkConf"] = {f"spark.dynamicAllocation.{key}": value for key, value in conf.items()}
    return made


def ray(**group: Any) -> Json:
    made = but(ray_job(), "spec.rayClusterSpec.enableInTreeAutoscaling", True)
    made["spec"]["rayClusterSpec"]["workerGroupSpecs"][0] |= group
    return made


@pytest.mark.parametrize(
    ("job", "pods", "gang"),
    [
        pytest.param(pytorch(minReplicas=1, maxReplicas=8, metrics=_METRICS), 8, 2, id="workers that metrics scale"),
        pytest.param(pytorch(minReplicas=1, maxReplicas=8), 2, 2, id="workers that nobody scales"),
        pytest.param(growing(maxExecutors=40), 41, 3, id="executors"),
        pytest.param(by_conf(enabled="True", maxExecutors="40"), 41, 3, id="executors by sparkConf, in another case"),
        pytest.param(ray(minReplicas=1, maxReplicas=9), 11, 3, id="Ray's workers"),
    ],
)
def test_it_is_charged_the_most_and_starts_with_what_it_needs(job: Json, pods: int, gang: int) -> None:
    found = registry.read(job)
    assert (found.pods, found.gang_minimum) == (pods, gang)


@pytest.mark.parametrize(
    ("job", "field"),
    [
        pytest.param(growing(), "spec.dynamicAllocation.maxExecutors", id="executors"),
        pytest.param(ray(maxReplicas=None), "spec.rayClusterSpec.workerGroupSpecs[0].maxReplicas", id="Ray's workers"),
    ],
)
def test_what_may_grow_without_end_is_refused(job: Json, field: str) -> None:
    assert "without end" in refusal(lambda: registry.read(job))[field]
