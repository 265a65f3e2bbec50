"""JobSet of jobset.x-k8s.io/v1alpha2: each replicatedJob is a pod set of replicas x the pods of its Job.

The status counts Jobs, not pods, so "running" needs the object's spec: as many Jobs ready or done as there
are replicas, but for roles that begin when others have ended (`dependsOn`). StartupPolicyInProgress is then not enough,
as only the early roles are up.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import SET
from fairway.workloads.kinds.batch_job import pods_at_once
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED, Phase, by_conditions, by_count, count
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.names import is_namespace
from fairway.workloads.reading.pods import MOST_POD_SETS, MOST_PODS, read_pod_set, read_replicas


class JobSet(Kind):
    name = "JobSet"
    api_version = "jobset.x-k8s.io/v1alpha2"
    plural = "jobsets"
    ends = SET
    managed_by = ("spec", "managedBy")
    drop = (("spec", "ttlSecondsAfterFinished"),)

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        found = []
        for name, entry in named_jobs(manifest["spec"]["replicatedJobs"]):
            job = entry["template"]["spec"]
            pods = read_replicas(entry["replicas"]) * pods_at_once(job)
            if pods > MOST_PODS:
                entry["replicas"].wrong(f"makes {pods} pods", f"use at most {MOST_PODS} pods")
                pods = 1
            found.append(read_pod_set(name, pods, job["template"]))
        return tuple(found)

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        if found := by_conditions(status, Completed=SUCCEEDED, Failed=FAILED):
            return found
        counts = job_counts(status["replicatedJobsStatus"])
        up = sum(one["ready"] + one["succeeded"] for one in counts.values())
        return by_count(up, _jobs(workload, manifest, counts), "Jobs")

    def priority(self, manifest: Field) -> str:
        jobs = manifest["spec"]["replicatedJobs"].items(MOST_POD_SETS)
        return first_text(*(job.at("template", "spec", "template", "spec", "priorityClassName") for job in jobs[:1]))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        for index in range(len(manifest["spec"]["replicatedJobs"])):
            job: Path = ("spec", "replicatedJobs", index, "template")
            yield (*job, "metadata")
            yield (*job, "spec", "template", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for entry in manifest["spec"]["replicatedJobs"].items():
            yield of_template(entry.at("template", "spec", "template"))


def named_jobs(jobs: Field) -> Iterator[tuple[str, Field]]:
    """The replicatedJobs of a set, each name once."""
    if jobs.value in (None, []):
        jobs.wrong("is empty", "add a replicatedJob")
    found: set[str] = set()
    for entry in jobs.items(MOST_POD_SETS):
        name = entry["name"].text()
        if not is_namespace(name):
            entry["name"].wrong("is not a name (RFC 1123 label)", "use lower-case letters, digits and -")
        if name in found:
            entry["name"].wrong(f"is a second {name}", "give every replicatedJob its own name")
            continue
        found.add(name)
        yield name, entry


def job_counts(statuses: Field) -> dict[str, dict[str, int]]:
    """How many Jobs of each role are what."""
    return {
        str(entry["name"].value): {key: count(entry[key]) for key in ("ready", "succeeded", "active")}
        for entry in statuses.items()
    }


def begun(one: Mapping[str, int]) -> int:
    """How many Jobs of a role there are, or were."""
    return max(one.get("ready", 0), one.get("active", 0)) + one.get("succeeded", 0)


def _late(jobs: Sequence[Field]) -> set[str]:
    """The roles that begin when another one has ended, which may take for ever: nobody misses them before. Whom a role
    depends on stands before it."""
    found: set[str] = set()
    for entry in jobs:
        for one in entry["dependsOn"].items():
            if one["status"].value == "Complete" or one["name"].value in found:
                found.add(str(entry["name"].value))
    return found


def _jobs(workload: Workload, manifest: Field, counts: Mapping[str, Mapping[str, int]]) -> int:
    """How many Jobs the set has. Without its spec: those seen at work, and one for every role not yet
    seen."""
    jobs = manifest["spec"]["replicatedJobs"].items()
    if jobs:
        late = _late(jobs)
        return sum(
            begun(counts.get(name, {})) if name in late else read_replicas(entry["replicas"])
            for entry, name in ((entry, str(entry["name"].value)) for entry in jobs)
        )
    seen = ({"active": 0, "succeeded": 0, **counts.get(pods.name, {})} for pods in workload.pod_sets)
    return sum(max(1, one["active"] + one["succeeded"]) for one in seen)


JOBSET = JobSet()
