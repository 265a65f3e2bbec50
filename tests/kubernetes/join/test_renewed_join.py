"""A member that joined with wide rights, in a version before this one: it goes on with them, is joined anew, and then
has its rights in the namespaces of its tenants alone; when it leaves, it is as it was before."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fairway.adapters.kubernetes.admin import Admin
from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.kubernetes.kubeconfig import read
from fairway.client.failure import Failure
from fairway.join import adopted_namespaces, join
from fairway.join.secret import Joined, read_secret, secret
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Planes, Spec, member
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.views.members import Facts
from tests.kubernetes.rights.thefts import HOME, JOBS, OURS, RBAC, job, space
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.policies_in_force import until_in_force

Json = dict[str, Any]
JOB = "Job.batch/v1"
FAIRWAY = "?fieldManager=fairway"
SECRET = f"v1/namespaces/{HOME}/secrets/fairway-cluster-north"
WIDE = [
    {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"], "resourceNames": ["default"]},
    {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["list", "watch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list", "watch", "create", "delete"]},
]


class Fleet:
    def __init__(self, planes: Planes, folder: Path) -> None:
        self.planes = planes
        self._folder = folder
        self.said = list[str]()
        self.hub, self.north = (Api(name, planes[name].kubeconfig) for name in ("hub", "north"))

    def config(self, name: str) -> Json:
        return read(self.planes[name].kubeconfig)

    async def account(self) -> KubernetesCluster:
        path = f"v1/namespaces/{HOME}/serviceaccounts/fairway-member/token"
        token = self.north.create(path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        plane = self.planes["north"]
        path = self._folder / "account"
        path.write_text(json.dumps(plane.kubeconfig_of(token)))
        return await KubernetesCluster.from_kubeconfig("north", path)

    def joined_before(self) -> None:
        """As version 0.1 left it: the account, its ClusterRole, and namespaces that it had made or used."""
        for one in (HOME, "strange", "payments"):
            self.north.create("v1/namespaces", space(one))
        self.north.create(f"v1/namespaces/{HOME}/serviceaccounts", {"metadata": {"name": "fairway-member"}})
        subject = {"kind": "ServiceAccount", "name": "fairway-member", "namespace": HOME}
        ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "fairway-member"}
        named = {"metadata": {"name": "fairway-member"}}
        self.north.create(f"{RBAC}/v1/clusterroles", {**named, "rules": WIDE})
        self.north.create(f"{RBAC}/v1/clusterrolebindings", {**named, "roleRef": ref, "subjects": [subject]})
        self.north.create(f"v1/namespaces{FAIRWAY}", {"metadata": {"name": "made"}})
        for one in ("made", "strange"):
            self.north.create(JOBS.format(one) + FAIRWAY, job(one, "before", {}))
        uid = (self.north.get("v1/namespaces/kube-system") or {})["metadata"]["uid"]
        facts = Facts(labels={"region": "eu"}, reserve="ledger", uid=uid)
        self.hub.create("v1/namespaces", space(HOME))
        self.hub.create(SECRET.rpartition("/")[0], secret(Joined("north", facts, self.config("north"))))

    async def renew(self, *adopt: str, level: str = "") -> Facts:
        """What the hub knows of the cluster then."""
        self.said.clear()
        configs = self.config("north"), self.config("hub")
        wish = join.JoinRequest("north", *configs, Facts(), loopback=True, adopt=adopt, renew=True, level=level)
        await join.join(wish, self.said.append)
        await asyncio.to_thread(until_in_force, self.north)
        return read_secret(self.hub.get(SECRET) or {}).facts

    def may_delete(self, namespace: str) -> bool:
        what = {"verb": "delete", "group": "batch", "resource": "jobs", "namespace": namespace}
        spec = {"user": f"system:serviceaccount:{HOME}:fairway-member", "resourceAttributes": what}
        asked = self.north.create("authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
        return bool(asked["status"]["allowed"])

    def labels(self, namespace: str) -> Json:
        found = (self.north.get(f"v1/namespaces/{namespace}") or {})["metadata"]["labels"]
        return {name: text for name, text in found.items() if "metadata.name" not in name}


@pytest_asyncio.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    planes = Planes(tmp_path, tools(("kube", "kwok")))
    await planes.start([Spec("hub"), member("north")])
    made = Fleet(planes, tmp_path)
    try:
        made.joined_before()
        yield made
    finally:
        for api in (made.hub, made.north):
            api.http.close()
        await planes.stop()


async def goes_on_with_its_wide_rights(fleet: Fleet) -> None:
    account = await fleet.account()
    try:
        assert not (await account.apply(JOB, job("made", "wide"))).adopted
        await account.apply(JOB, job("later", "wide"), "restricted")
        assert await account.delete(JOB, "made", "wide", OURS, wait_s=20)
    finally:
        await account.close()
    assert fleet.labels("later") == {
        "fairway.io/tenant": "later",
        "pod-security.kubernetes.io/enforce": "restricted",
    }


async def is_narrowed_and_adopts_what_fairway_made(fleet: Fleet) -> None:
    facts = await fleet.renew()
    assert (facts.labels, facts.reserve, facts.max_pod_security) == ({"region": "eu"}, "ledger", "baseline")
    assert fleet.labels("made") == {
        "fairway.io/tenant": "made",
        "pod-security.kubernetes.io/enforce": "baseline",
    }
    assert (fleet.labels("strange"), fleet.labels("payments")) == ({}, {})
    assert any("--adopt-namespaces strange" in line for line in fleet.said), fleet.said
    until(lambda: not fleet.may_delete("strange"), "the API server heeds the narrower rights")
    account = await fleet.account()
    try:
        await account.apply(JOB, job("made", "narrow"))
        await account.apply(JOB, job("later", "narrow"))
        assert await account.delete(JOB, "made", "before", OURS, wait_s=20)
        for namespace in ("payments", "strange", "default"):
            with pytest.raises(ClusterRefused) as refused:
                await account.apply(JOB, job(namespace))
            assert refused.value.code == "ForeignNamespace"
        with pytest.raises(ClusterRefused, match="--adopt-namespaces strange"):
            await account.delete(JOB, "strange", "before", OURS, wait_s=1)
    finally:
        await account.close()


async def takes_a_namespace_that_was_named(fleet: Fleet) -> None:
    facts = await fleet.renew("strange", "absent", level="privileged")
    assert facts.max_pod_security == "privileged"
    assert any("absent is not there yet" in line for line in fleet.said)
    assert fleet.labels("strange") == {
        "fairway.io/tenant": "strange",
        "fairway.io/adopted": "true",
        "pod-security.kubernetes.io/enforce": "baseline",
    }
    account = await fleet.account()
    try:
        assert await account.delete(JOB, "strange", "before", OURS, wait_s=20)
        await until_raised(account)
    finally:
        await account.close()
    assert (await fleet.renew()).max_pod_security == "privileged"


async def until_raised(account: KubernetesCluster) -> None:
    """A policy that changed counts a moment later."""
    for _ in range(100):
        try:
            await account.apply(JOB, job("strange", "raised"), "privileged")
        except ClusterRefused:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the namespace was not raised")


async def cannot_be_renewed_before_it_has_joined(fleet: Fleet) -> None:
    kept = fleet.hub.get(SECRET) or {}
    fleet.hub.delete(SECRET)
    with pytest.raises(Failure, match="no cluster has joined as north"):
        await fleet.renew()
    fleet.hub.create(
        SECRET.rpartition("/")[0],
        {name: kept[name] for name in ("data", "type")}
        | {
            "metadata": {name: kept["metadata"][name] for name in ("name", "labels", "annotations")},
        },
    )


async def gives_back_what_was_taken_and_is_not_in_use(fleet: Fleet) -> None:
    account = await fleet.account()
    try:
        await account.apply(JOB, job("empty"))
        assert await account.delete(JOB, "empty", "train", OURS, wait_s=20)
    finally:
        await account.close()
    said: list[str] = []
    async with Admin.open("north", fleet.config("north"), loopback=True) as admin:
        await adopted_namespaces.release(admin, said.append)
    assert fleet.labels("strange") == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert any("made stays" in line for line in said), said
    until(lambda: fleet.north.get("v1/namespaces/empty") is None, "what is empty goes")
    assert fleet.north.get(f"{JOBS.format('later')}/narrow") is not None
    for namespace in ("made", "later", "strange"):
        assert fleet.north.items(f"{RBAC}/v1/namespaces/{namespace}/rolebindings") == []


async def test_a_member_of_before_is_joined_anew_step_by_step_and_leaves(fleet: Fleet) -> None:
    """Each step begins where the one before it ended."""
    await goes_on_with_its_wide_rights(fleet)
    await is_narrowed_and_adopts_what_fairway_made(fleet)
    await takes_a_namespace_that_was_named(fleet)
    await cannot_be_renewed_before_it_has_joined(fleet)
    await gives_back_what_was_taken_and_is_not_in_use(fleet)
