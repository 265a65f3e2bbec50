"""The witness of what runs in the members tells what must not happen, or none of these tests could fail."""

from members import Members

from fairway.kubesim.sim import Cluster
from fairway.kubesim.store import Key


class Clock:
    def now(self) -> int:
        return 0


class Two:
    """Two clusters without anybody to run pods in them."""

    def __init__(self) -> None:
        self.seen = Members()
        self.clusters = [Cluster(name, {}, Clock(), "seed") for name in ("c0", "c1")]
        for cluster in self.clusters:
            self.seen.follow(cluster)

    def pod(self, cluster: int, attempt: int, phase: str) -> None:
        self._put(cluster, "pods", "Pod", attempt, {"status": {"phase": phase}})

    def made(self, cluster: int, attempt: int) -> None:
        self._put(cluster, "jobs.batch", "Job", attempt, {})

    def _put(self, cluster: int, storage: str, kind: str, attempt: int, more: dict[str, object]) -> None:
        labels = {"fairway.io/job": "job-a", "fairway.io/attempt": str(attempt)}
        meta = {"name": f"a-{attempt}", "namespace": "t", "uid": f"{kind}-{attempt}-{cluster}", "labels": labels}
        obj = {"kind": kind, "metadata": meta, **more}
        self.clusters[cluster].api.store.put(Key(storage, "t", f"a-{attempt}"), obj)


def test_one_attempt_after_another_is_as_it_should_be() -> None:
    two = Two()
    for cluster, attempt in enumerate((1, 2)):
        two.made(cluster, attempt)
        two.pod(cluster, attempt, "Running")
        two.pod(cluster, attempt, "Failed")
    assert (two.seen.twice, two.seen.overlapping, two.seen.running()) == ([], [], 0)


def test_two_attempts_that_run_at_once_overlap() -> None:
    two = Two()
    two.pod(0, 1, "Running")
    two.pod(1, 2, "Running")
    assert two.seen.overlapping == ["attempt 2 of job-a runs in c1 while attempt 1 does"]


def test_one_attempt_that_is_made_in_two_clusters_was_started_twice() -> None:
    two = Two()
    two.made(0, 1)
    two.made(1, 1)
    assert len(two.seen.twice) == 1


def test_a_job_that_runs_again_after_it_succeeded_was_started_twice() -> None:
    two = Two()
    two.pod(0, 1, "Running")
    two.pod(0, 1, "Succeeded")
    two.pod(1, 2, "Running")
    assert two.seen.twice == ["attempt 2 of job-a runs after attempt 1 succeeded"]
