"""What the members saw: every object that was made there for a job, by its uid."""

from pathlib import Path

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL

KIND = "Job.batch/v1"


class MemberObjects:
    """`uids` of the objects that there were of each attempt of each job, in whatever member."""

    def __init__(self) -> None:
        self.uids: dict[tuple[str, str], set[str]] = {}

    async def follow(self, name: str, kubeconfig: Path) -> None:
        """For ever."""
        cluster = await KubernetesCluster.from_kubeconfig(name, kubeconfig)
        try:
            async for change in cluster.watch(KIND):
                meta = change.manifest.get("metadata", {})
                labels = meta.get("labels") or {}
                if JOB_LABEL in labels:
                    key = (labels[JOB_LABEL], labels.get(ATTEMPT_LABEL, ""))
                    self.uids.setdefault(key, set()).add(meta["uid"])
        finally:
            await cluster.close()

    def jobs(self) -> set[str]:
        return {job for job, _ in self.uids}

    def double(self) -> list[str]:
        """Attempts of which more than one object was made."""
        return [f"attempt {attempt} of {job}" for (job, attempt), uids in self.uids.items() if len(uids) > 1]
