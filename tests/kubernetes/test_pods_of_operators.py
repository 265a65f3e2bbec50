"""The pods that real operators make of a job are those that its reader derives: what is looked at before a job is
admitted is what runs. What an operator puts beside that is named here, kind by kind."""

from functools import partial
from typing import Any

import pytest
from fleet import Json, RealFleet, until
from manifests import example
from test_kinds import CASES, Case, classes

from fairway.workloads.fields import Field, Problems
from fairway.workloads.registry import KINDS
from fairway.workloads.render import member_copy
from pod_flaws import CONTEXT

__all__ = ["classes"]
# Containers that operators add to pods, by the kind's name. They are the members' administrators' own.
ADDED = {
    "PyTorchJob": {"init-pytorch"},
    "MPIJob": {"kubectl-delivery"},
    "Workflow": {"init", "wait"},
    "RayJob": {"wait-gcs-ready"},
}
_OF_POD: Json = {"runAsUser": 1007, "fsGroup": 7, "seccompProfile": {"type": "RuntimeDefault"}}
# spark-submit is played here and the operator's webhook is not there, so that neither brings a securityContext.
HARDENED = [case for case in CASES if case.kind != "SparkApplication"]


def hardened(value: Any) -> Any:
    """Every pod of a job with a securityContext that nobody would make by chance."""
    if isinstance(value, list):
        return [hardened(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: hardened(one) for key, one in value.items()}
    if "containers" in made:
        made["securityContext"] = _OF_POD
        made["containers"] = [{**one, "securityContext": CONTEXT} for one in made["containers"]]
    if "entrypoint" in made and "templates" in made:  # a workflow's
        made["securityContext"] = _OF_POD
    if isinstance(made.get("container"), dict):
        made["container"] = {**made["container"], "securityContext": CONTEXT}
    return made


def derived(manifest: Json) -> list[Json]:
    copy = member_copy(manifest, "j", 1)
    pods = KINDS[f"{copy['kind']}.{copy['apiVersion']}"].pod_templates(Field(copy, Problems()))
    return [one for one in (pod.plain() for pod in pods) if one["spec"].get("containers")]


def containers(pod: Json) -> dict[str, Any]:
    """What each container may do, by its name."""
    listed = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    return {
        one["name"]: (one.get("securityContext"), [port.get("hostPort", 0) for port in one.get("ports") or ()])
        for one in listed
    }


def same(real: Json, ours: Json, added: set[str]) -> bool:
    """Of two pods; the real one has more names, and what its operator adds."""
    mine, theirs = containers(ours), containers(real)
    if {name: one[0] for name, one in mine.items()} != {name: theirs[name][0] for name in mine.keys() & theirs.keys()}:
        return False
    if any(port for _, ports in theirs.values() for port in ports) or not theirs.keys() - mine.keys() <= added:
        return False
    of_pod = ("hostNetwork", "hostPID", "hostIPC", "runtimeClassName", "automountServiceAccountToken")
    return (real["spec"].get("securityContext") or {}) == (ours["spec"].get("securityContext") or {}) and all(
        real["spec"].get(name) == ours["spec"].get(name) for name in of_pod
    )


@pytest.mark.parametrize("case", HARDENED, ids=[f"{one.kind} in {one.cluster}" for one in HARDENED])
@pytest.mark.usefixtures("classes")
def test_operators_make_the_pods_that_were_looked_at(fleet: RealFleet, tenant: str, case: Case) -> None:
    job, policy = example(case.file, tenant, case.cluster, run_for="10s")
    job = hardened(job)
    expected = derived(job)
    fleet.hub.apply(job, policy)
    seen: dict[str, Json] = {}

    until(partial(_looked, fleet.members[case.cluster], tenant, seen, expected), f"a pod of each role of {case.kind}")

    added = ADDED.get(case.kind, set())
    strange = [one["spec"] for one in seen.values() if not any(same(one, ours, added) for ours in expected)]
    assert strange == []


def _looked(member: Any, tenant: str, seen: dict[str, Json], expected: list[Json]) -> bool:
    """Whether there has been a pod with the containers of each pod that is expected."""
    seen |= {one["metadata"]["name"]: one for one in member.pods(tenant)}
    found = [containers(one).keys() for one in seen.values()]
    return len(seen) > 0 and all(any(containers(one).keys() <= names for names in found) for one in expected)
