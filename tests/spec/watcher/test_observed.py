"""Which objects of a member speak for a job: those that Fairway applied."""

import pytest

from fairway.runtime.cluster_port import Change
from fairway.watcher.service import observed

LABELS = {"fairway.io/job": "speech-1", "fairway.io/attempt": "2"}
JOBSET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "speech", "uid": "u", "controller": True}
RAYJOB = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "speech", "uid": "u", "controller": True}
CASES = {
    "an object that Fairway applied speaks for its attempt": ({"labels": LABELS}, ("speech-1", 2)),
    "a Job that JobSet made with the same labels does not": ({"labels": LABELS, "ownerReferences": [JOBSET]}, None),
    "nor does a RayCluster that KubeRay made of a RayJob": ({"labels": LABELS, "ownerReferences": [RAYJOB]}, None),
    "an owner that controls nothing is no operator": (
        {"labels": LABELS, "ownerReferences": [{**JOBSET, "controller": False}]},
        ("speech-1", 2),
    ),
    "an object of somebody else is none of ours": ({"labels": {"app": "web"}}, None),
    "nor is one whose attempt is no number": ({"labels": {**LABELS, "fairway.io/attempt": "x"}}, None),
}


@pytest.mark.parametrize(("given", "want"), CASES.values(), ids=CASES.keys())
def test_observed(given: dict[str, object], want: tuple[str, int] | None) -> None:
    seen = observed("north", Change("Job.batch/v1", "team", "speech-leader-0", {"metadata": given}), b"a key")

    assert (None if seen is None else (seen.job, seen.attempt)) == want
