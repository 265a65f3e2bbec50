"""What the tests of evictions do and look at, job by job."""

import time
from collections.abc import Iterable
from typing import Any

from tests.kubernetes.evictions.fleet import MEMBERS, EvictionFleet
from tests.kubernetes.evictions.manifests import TREE, Gang
from tests.kubernetes.support.fleet import condition, in_namespace, until

Json = dict[str, Any]
LENDER = "lender"
OWNER = "owner"
_ENDED = ("cancelled", "failed", "succeeded")
_JOBS = "kubeflow.org/v1/pytorchjobs"
_BINDINGS = "work.karmada.io/v1alpha2/resourcebindings"
_POLICIES = "policy.karmada.io/v1alpha1/propagationpolicies"


class EvictionHouse:
    """The words of these tests: what people do with jobs, and what they and the members' administrators see."""

    def __init__(self, fleet: EvictionFleet) -> None:
        self.fleet = fleet
        self.hub = fleet.hub

    # ---- what people do
    def rules(self, tree: Json) -> None:
        """The quota of the fleet, from now on. Returns when it is in force."""
        self.hub.apply(tree)
        until(lambda: condition(self.hub.get(TREE), "Ready") == "True", "the tree is in force")

    def apply(self, *gangs: Gang) -> None:
        self.hub.apply(*(one for gang in gangs for one in gang.manifests()))

    def fill(self, gangs: Iterable[Gang]) -> None:
        """One after another, so that it is known who came first."""
        for gang in gangs:
            self.apply(gang)
            self.running(gang)

    def delete(self, *gangs: Gang) -> None:
        for gang in gangs:
            self.hub.kubectl("delete", "pytorchjob", gang.name, "-n", gang.namespace, "--wait=false")

    # ---- what they see
    def row(self, gang: Gang) -> Json:
        return self.fleet.rows().get(gang.name, {})

    def running(self, gang: Gang, seconds: float = 60) -> Json:
        """Its row, as soon as the hub's own object says that it runs."""

        def up() -> bool:
            found = self.hub.get(in_namespace(_JOBS, gang.namespace, gang.name))
            return condition(found, "Running") == "True"

        until(up, f"{gang.name} runs", seconds)
        return until(lambda: self.row(gang) if self.row(gang)["state"] == "running" else {}, f"{gang.name} is told of")

    def waits(self, gang: Gang) -> Json:
        return until(lambda: self.row(gang) if self.row(gang).get("state") == "queued" else {}, f"{gang.name} waits")

    def attempts(self, gangs: Iterable[Gang]) -> dict[str, int]:
        rows = self.fleet.rows()
        return {gang.name: rows[gang.name]["attempt"] for gang in gangs}

    def nodes(self, gang: Gang, *members: str) -> set[str]:
        """Where its pods are, in whatever member."""
        found = set()
        for name in members or MEMBERS:
            for pod in self.fleet.members[name].pods(gang.namespace):
                if pod["metadata"]["labels"].get("training.kubeflow.org/job-name") == gang.name:
                    found.add(pod["spec"].get("nodeName", ""))
        return found

    def story(self, gang: Gang) -> Any:
        return self.fleet.explained("story", gang.namespace, gang.name)

    def times(self, gang: Gang) -> str:
        """What was said of it, and how many milliseconds after what was said before."""
        return ", ".join(f"{line['what']} {line.get('after', 0)}" for line in self.story(gang)["lines"])

    def why(self, gang: Gang) -> Any:
        return self.fleet.explained("why", gang.namespace, gang.name)

    def described(self, gang: Gang) -> str:
        """On one line, as kubectl describes it."""
        return " ".join(self.hub.kubectl("describe", "pytorchjob", gang.name, "-n", gang.namespace).split())

    def evicted(self, gang: Gang) -> Json:
        """The condition of that name, of its binding."""
        found = self.hub.get(in_namespace(_BINDINGS, gang.namespace, f"{gang.name}-pytorchjob")) or {"status": {}}
        return next((one for one in found["status"].get("conditions", ()) if one["type"] == "Evicted"), {})

    # ---- between tests
    def clear(self) -> None:
        """Nothing of any job is left anywhere."""
        for tenant in (LENDER, OWNER):
            self.hub.delete(in_namespace(_JOBS, tenant), propagationPolicy="Background")
            self.hub.delete(in_namespace(_POLICIES, tenant))
        end = time.monotonic() + 60
        while left := self._left():
            assert time.monotonic() < end, f"left: {left}"
            time.sleep(0.1)
        self.hub.delete(TREE)

    def _left(self) -> list[str]:
        active = [f"{name} {row['state']}" for name, row in self.fleet.rows().items() if row["state"] not in _ENDED]
        return [pod["metadata"]["name"] for name in MEMBERS for pod in self._pods(name)] + active

    def _pods(self, member: str) -> list[Json]:
        return [pod for tenant in (LENDER, OWNER) for pod in self.fleet.members[member].pods(tenant)]
