"""Jobs that need of a member what Fairway may do there."""

from collections.abc import Collection

import httpx

from fairway.workloads.gangs.pod_groups import MARKS, PLURAL
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL
from tests.kubernetes.hub.schedule_kinds import SCHEDULES
from tests.kubernetes.rights import rbac
from tests.kubernetes.rights.fleet import RightsHouse
from tests.kubernetes.support import kinds
from tests.kubernetes.support.fleet import condition, namespace
from tests.kubernetes.support.kinds import Json, Kind


async def lives(place: RightsHouse, tenant: str) -> None:
    """A job of every kind, from its creation on the hub to its deletion there."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    every = kinds.every()
    for kind in every:
        applied(place, tenant, kind)
    for kind in every:
        there = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda there=there: place.north.get(there), f"{there} is in the member")
        if kind.key != "Job.batch/v1":
            say(place, there, kinds.good_end(kind))
    for kind in every:
        here = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda here=here: (place.hub.get(here) or {}).get("status"), f"{here} has its status")
        place.hub.delete(here)
    for kind in every:
        there = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda there=there: not place.north.get(there), f"{there} is gone from the member")


async def in_pod_groups(place: RightsHouse, tenant: str) -> None:
    """A pod for each kind of PodGroup, which names one."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    (kind,) = (one for one in kinds.every() if one.name == "Pod")
    for number, ((holder, mark), group) in enumerate(MARKS.items()):
        version = group.partition(".")[2]
        groups = f"{version}/namespaces/{tenant}/{PLURAL}"
        if not place.hub.items(groups):
            meta = {"name": "g", "namespace": tenant}
            body = {"apiVersion": version, "kind": "PodGroup", "metadata": meta, "spec": {"minMember": 1}}
            place.hub.create(groups, body)
        pod = kinds.manifest(kind)
        pod["metadata"] = {"name": f"in-group-{number}", holder: {mark: "g"}}
        place.hub.create(kinds.path(kind, tenant), pod)
        here = f"{kinds.path(kind, tenant)}/in-group-{number}"
        await place.until(lambda here=here: place.north.get(here), f"{here} is in the member")
        await place.until(lambda groups=groups: place.north.items(groups), f"so is its PodGroup of {version}")
        place.hub.delete(here)
        await place.until(lambda groups=groups: not place.north.items(groups), f"it is gone from {version}")


def applied(place: RightsHouse, tenant: str, kind: Kind) -> None:
    """On the hub, with what it refers to."""
    for plural, body in kinds.refers_to(kind).items():
        place.hub.create(f"{kind.api_version}/namespaces/{tenant}/{plural}", body)
    place.hub.create(kinds.path(kind, tenant), kinds.manifest(kind, queue=tenant))


async def scheduled(place: RightsHouse, tenant: str) -> None:
    """A schedule of every kind makes a run, and takes it along when it is deleted."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    of_runs = {f"{kind.name}.{kind.api_version}": kind for kind in kinds.every()}
    for one in SCHEDULES:
        run = of_runs[f"{one.run}.{one.api_version}"]
        place.hub.create(one.path(tenant), one.manifest(tenant, kinds.manifest(run)["spec"]))
        one.ran_two_hours_ago(place.hub, tenant)
        where = kinds.path(run, tenant)
        await place.until(lambda where=where: place.hub.items(where), f"{one.name} has made its run")
        place.hub.delete(one.path(tenant, "tick"))
        await place.until(lambda where=where: not place.hub.items(where), f"the run of {one.name} is gone")


async def edited(place: RightsHouse, tenant: str, of: Collection[Kind] = kinds.every()) -> None:
    """Somebody takes Fairway's labels off an object of each of these kinds: it is removed."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    for kind in of:
        there = f"{kinds.path(kind, tenant)}/one"
        applied(place, tenant, kind)
        await place.until(lambda there=there: place.north.get(there), f"{there} is in the member")
        place.north.patch(there, {"metadata": {"labels": dict.fromkeys((JOB_LABEL, ATTEMPT_LABEL))}})
        await place.until(lambda there=there: not place.north.get(there), f"{there} is gone from the member")
        place.hub.delete(there)


async def unheard(place: RightsHouse, tenant: str) -> None:
    """A TrainJob whose trainer has not heard of its runtime at first, as it says in these words."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    for plural, body in _UNHEARD.items():
        place.north.create(f"{_ADMISSION}/{plural}", body)
    (kind,) = (one for one in kinds.every() if one.name == "TrainJob")
    there = kinds.path(kind, "default")
    dry = {"params": {"dryRun": "All"}, "json": kinds.manifest(kind)}
    await place.until(lambda: "not found" in place.north.http.post(f"/apis/{there}", **dry).text, "it is refused")
    applied(place, tenant, kind)
    reads = ("get", "trainingruntimes")
    await place.until(
        lambda: reads in {(one["verb"], one["objectRef"]["resource"]) for one in place.asked()},
        "it is tried once more",
    )
    for plural, body in _UNHEARD.items():
        place.north.delete(f"{_ADMISSION}/{plural}/{body['metadata']['name']}")
    there = f"{kinds.path(kind, tenant)}/one"
    await place.until(lambda: place.north.get(there), f"{there} is in the member")
    place.hub.delete(there)
    await place.until(lambda: not place.north.get(there), f"{there} is gone from the member")


_ADMISSION = "admissionregistration.k8s.io/v1"
_RULE = {
    "apiGroups": ["trainer.kubeflow.org"],
    "apiVersions": ["*"],
    "operations": ["CREATE"],
    "resources": ["trainjobs"],
}
_SAYS = "'\"' + object.spec.runtimeRef.name + '\" not found'"
_UNHEARD: dict[str, Json] = {
    "validatingadmissionpolicies": {
        "metadata": {"name": "unheard"},
        "spec": {
            "matchConstraints": {"resourceRules": [_RULE]},
            "validations": [{"expression": "false", "messageExpression": _SAYS}],
        },
    },
    "validatingadmissionpolicybindings": {
        "metadata": {"name": "unheard"},
        "spec": {"policyName": "unheard", "validationActions": ["Deny"]},
    },
}


async def along(place: RightsHouse, tenant: str, by_hand: bool = False) -> None:
    """Two jobs whose pods name the same of everything; one of each that is immutable is another one for the second.
    `by_hand`: the Secrets are in the member already."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    profile = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": tenant}}
    await place.post({**profile, "spec": {"namespaces": [tenant], "serviceAccounts": ["runner"]}})
    ready = f"fairway.io/v1alpha1/tenantprofiles/{tenant}"
    await place.until(lambda: condition(place.hub.get(ready), "Ready") == "True", "its account is allowed")
    if by_hand:
        place.north.create("v1/namespaces", namespace(tenant))
        for name in ("db", "fixed"):
            place.north.create(f"v1/namespaces/{tenant}/secrets", {"metadata": {"name": name}})
    for path, body in _NAMED.items():
        _put(place, tenant, path, body)
    for job, encoded in (("one", "b25l"), ("two", "dHdv")):
        _put(place, tenant, "configmaps/fixed", {"immutable": True, "data": {"a": job}})
        _put(place, tenant, "secrets/fixed", {"immutable": True, "data": {"a": encoded}})
        place.hub.create(f"batch/v1/namespaces/{tenant}/jobs", names_all(job))
        there = f"batch/v1/namespaces/{tenant}/jobs/{job}"
        await place.until(lambda there=there: place.north.get(there), f"{there} is in the member")
    fixed = place.north.get(f"v1/namespaces/{tenant}/configmaps/fixed") or {}
    assert fixed["data"] == {"a": "two"}
    for job in ("one", "two"):
        place.hub.delete(f"batch/v1/namespaces/{tenant}/jobs/{job}")
    left = f"v1/namespaces/{tenant}/persistentvolumeclaims"
    await place.until(lambda: not place.north.items(left), "what went along is gone from the member")


async def submitted(place: RightsHouse, tenant: str) -> None:
    """Another one, by a user whom the hub knows, over HTTP; returns when it was in the member and is gone."""
    job = names_all("three")
    job["metadata"]["namespace"] = tenant
    caller = {"Authorization": f"Bearer {rbac.administrator(place.hub)}"}
    async with httpx.AsyncClient(trust_env=False, headers=caller) as http:
        answer = await http.post(f"{place.home.url}/v1/jobs", json={"manifest": job})
        assert answer.is_success, answer.text
        there = f"batch/v1/namespaces/{tenant}/jobs/three"
        await place.until(lambda: place.north.get(there), f"{there} is in the member")
        await http.delete(f"{place.home.url}/v1/jobs/{answer.json()['job']}")
    await place.until(lambda: not place.north.get(there), f"{there} is gone from the member")


def names_all(name: str) -> Json:
    maps = [{"configMapRef": {"name": one}} for one in ("settings", "fixed")]
    secrets = [{"secretRef": {"name": one}} for one in ("db", "fixed")]
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": "runner",
        "containers": [{"name": "main", "image": "x", "envFrom": [*maps, *secrets]}],
        "volumes": [{"name": "scratch", "persistentVolumeClaim": {"claimName": "scratch"}}],
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": {"spec": pod}}}


_ASKS = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_NAMED = {
    "configmaps/settings": {"data": {"a": "1"}},
    "secrets/db": {"data": {"a": "MQ=="}},
    "serviceaccounts/runner": {},
    "persistentvolumeclaims/scratch": {"spec": _ASKS},
}


def _put(place: RightsHouse, tenant: str, path: str, body: Json) -> None:
    plural, _, name = path.partition("/")
    where = f"v1/namespaces/{tenant}/{plural}"
    place.hub.delete(f"{where}/{name}")
    place.hub.create(where, {"metadata": {"name": name}, **body})


def say(place: RightsHouse, there: str, status: Json) -> None:
    """As an operator does."""
    place.north.patch(f"{there}/status", {"status": status})
