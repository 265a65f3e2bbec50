"""What a job brings along that has no effect here is taken, and named."""

from typing import Any

import msgspec
import pytest

from fairway.workloads.job_warnings import job_warnings
from fairway.workloads.kinds.registry import read
from tests.spec.workloads.builders import batch_job, with_at

FEWER = {"kueue.x-k8s.io/job-min-parallelism": "2"}
SAID = (
    "without effect: metadata.annotations['kueue.x-k8s.io/job-min-parallelism'] "
    "(a Job starts with as many pods as it asks for, or waits)"
)
raw = msgspec.json.encode


def test_a_job_that_kueue_would_start_with_fewer_pods_starts_with_all_and_its_owner_is_told() -> None:
    job = with_at(batch_job(annotations=FEWER), "spec.parallelism", 4)
    assert (read(job).gang_minimum, job_warnings(raw(job))) == (4, (SAID,))


def test_it_is_told_beside_a_secret_that_is_written_out() -> None:
    job = batch_job(annotations=FEWER)
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "x"}]
    said, secret = job_warnings(raw(job))
    assert said == SAID and "is the value of 'TOKEN'" in secret


NOTHING: dict[str, Any] = {
    "another annotation of Kueue": raw(batch_job(annotations={"kueue.x-k8s.io/note": "job-min-parallelism"})),
    "on pods, where Kueue does not read it": raw(with_at(batch_job(), "spec.template.metadata.annotations", FEWER)),
    "on another kind": raw(
        {**batch_job(annotations=FEWER), "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    ),
    "no annotations": raw(batch_job(annotations="job-min-parallelism")),
    "no object": raw(["job-min-parallelism"]),
    "no JSON": b'{"job-min-parallelism',
}


@pytest.mark.parametrize("manifest", NOTHING.values(), ids=list(NOTHING))
def test_there_is_nothing_to_tell_of(manifest: bytes) -> None:
    assert job_warnings(manifest) == ()
