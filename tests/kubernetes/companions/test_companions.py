"""What a job's pods name goes along to the cluster that was chosen, as it is at the start, and goes with the job."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.kubernetes.hub.objects import Applied, applied, sent_to
from tests.kubernetes.rights import rbac
from tests.kubernetes.support.fleet import Api, RealFleet, condition, in_namespace, namespace, until
from tests.kubernetes.support.leftovers import everything
from tests.kubernetes.support.tries import job, policy

Json = dict[str, Any]
MEMBER = "north"
CONFIG_MAPS = "v1/configmaps"
SECRETS = "v1/secrets"
ACCOUNTS = "v1/serviceaccounts"
CLAIMS = "v1/persistentvolumeclaims"
JOBS = "batch/v1/jobs"
_PROFILE = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile"}
PULLS = {".dockerconfigjson": b64encode(b'{"auths":{}}').decode()}


def named(tenant: str, name: str = "try", **pod: Any) -> Json:
    """A Job of two pods that run for ever; its containers have `env_from`, its pods the rest of `pod`."""
    what = job("Job", tenant, name)
    spec = what["spec"]["template"]["spec"]
    spec["containers"][0]["envFrom"] = pod.pop("env_from", [])
    spec |= pod
    return what


def settings(**data: str) -> Json:
    return {"metadata": {"name": "settings", "labels": {"app": "mine"}}, "data": data}


def of_settings(tenant: str, name: str = "try") -> Json:
    return named(tenant, name, volumes=[{"name": "settings", "configMap": {"name": "settings"}}])


def put(api: Api, kind: str, tenant: str, *ones: Json) -> None:
    for one in ones:
        api.create(in_namespace(kind, tenant), one)


def there(fleet: RealFleet, kind: str, tenant: str, name: str) -> Json:
    return fleet.members[MEMBER].get(in_namespace(kind, tenant, name)) or {}


def owner(found: Json) -> Json:
    (one,) = found["metadata"]["ownerReferences"]
    return dict(one)


def sent(one: Applied) -> dict[str, str]:
    """What the record says of each companion: its digest, or why it was not sent."""
    (said,) = (word for word in one.asked("story")["record"] if word["type"] == "dispatched")
    return {f"{c['kind']} {c['name']}": c.get("why") or c["digest"] for c in said.get("companions", ())}


def gone(fleet: RealFleet, one: Applied) -> None:
    """It is deleted on the hub, and nothing of it is left in the member."""
    one.delete()
    until(lambda: not everything(fleet.members[MEMBER], one.namespace), "nothing is left in the member")


@pytest.fixture
def account(fleet: RealFleet, tenant: str) -> Iterator[str]:
    """One that the tenant's pods may act as."""
    path = f"fairway.io/v1alpha1/tenantprofiles/{tenant}"
    spec = {"namespaces": [tenant], "serviceAccounts": ["runner"]}
    fleet.hub.create(path.rpartition("/")[0], {"metadata": {"name": tenant}, "spec": spec} | _PROFILE)
    until(lambda: condition(fleet.hub.get(path), "Ready") == "True", "its profile is in force")
    yield "runner"
    fleet.hub.delete(path)


@pytest.fixture
def volume(fleet: RealFleet, tenant: str) -> Iterator[str]:
    """The class of a volume that is free in the member."""
    api = fleet.members[MEMBER]
    spec = {
        "storageClassName": tenant,
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
    }
    api.create("v1/persistentvolumes", {"metadata": {"name": tenant}, "spec": spec})
    yield tenant
    api.delete(f"v1/persistentvolumes/{tenant}")


def test_a_job_has_all_that_its_pods_name_and_takes_it_along_when_it_goes(
    fleet: RealFleet, tenant: str, volume: str, account: str
) -> None:
    put(fleet.hub, CONFIG_MAPS, tenant, settings(rate="1"))
    put(fleet.hub, SECRETS, tenant, {"metadata": {"name": "db"}, "stringData": {"password": "s3cr3t"}})
    pulls = {"metadata": {"name": "pulls"}, "type": "kubernetes.io/dockerconfigjson", "data": PULLS}
    put(fleet.hub, SECRETS, tenant, pulls)
    put(fleet.hub, ACCOUNTS, tenant, {"metadata": {"name": account}, "imagePullSecrets": [{"name": "pulls"}]})
    asks = {"storageClassName": volume, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    put(fleet.hub, CLAIMS, tenant, {"metadata": {"name": "scratch"}, "spec": asks})
    volumes = [
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "scratch"}},
        {"name": "optional", "configMap": {"name": "nobodys", "optional": True}},
    ]
    what = named(tenant, env_from=[{"secretRef": {"name": "db"}}], volumes=volumes, serviceAccountName=account)
    one = sent_to(fleet, what, MEMBER)
    until(lambda: one.runs(pods=2), "it runs", 90)

    assert there(fleet, CONFIG_MAPS, tenant, "settings")["data"] == {"rate": "1"}
    assert there(fleet, SECRETS, tenant, "db")["data"] == {"password": b64encode(b"s3cr3t").decode()}
    assert there(fleet, SECRETS, tenant, "pulls")["data"] == PULLS
    runner = there(fleet, ACCOUNTS, tenant, account)
    assert (runner["imagePullSecrets"], runner["automountServiceAccountToken"]) == ([{"name": "pulls"}], False)
    assert there(fleet, CLAIMS, tenant, "scratch")["status"]["phase"] == "Bound"
    said = sent(one)
    assert set(said) == {
        "ConfigMap settings", "PersistentVolumeClaim scratch", "Secret db", "Secret pulls", "ServiceAccount runner"
    }  # fmt: skip
    assert {len(digest) for digest in said.values()} == {64}

    owners = {(o["kind"], o["name"]) for kind, name in _ALL for o in [owner(there(fleet, kind, tenant, name))]}
    ((kind, name),) = owners
    assert kind == "ConfigMap"
    last = owner(there(fleet, CONFIG_MAPS, tenant, name))
    assert (last["kind"], last["uid"]) == ("Job", there(fleet, JOBS, tenant, "try")["metadata"]["uid"])
    gone(fleet, one)


_ALL = ((CONFIG_MAPS, "settings"), (SECRETS, "db"), (SECRETS, "pulls"), (ACCOUNTS, "runner"), (CLAIMS, "scratch"))


def test_what_counts_is_what_it_is_at_the_start(fleet: RealFleet, tenant: str) -> None:
    put(fleet.hub, CONFIG_MAPS, tenant, settings(rate="1", old="x"))
    what = of_settings(tenant)
    one = sent_to(fleet, what, "nowhere")
    one.waits("UnknownCluster")
    fleet.hub.patch(in_namespace(CONFIG_MAPS, tenant, "settings"), {"data": {"rate": "2", "old": None}})
    fleet.hub.apply(policy(what, MEMBER))
    until(one.runs, "it runs")
    assert there(fleet, CONFIG_MAPS, tenant, "settings")["data"] == {"rate": "2"}
    fleet.hub.patch(in_namespace(CONFIG_MAPS, tenant, "settings"), {"data": {"rate": "3"}})
    later = sent_to(fleet, of_settings(tenant, "later"), MEMBER)
    until(later.runs, "a later one runs")
    assert there(fleet, CONFIG_MAPS, tenant, "settings")["data"] == {"rate": "3"}
    one.delete()
    until(lambda: not one.is_in(), "the first is gone")
    assert there(fleet, CONFIG_MAPS, tenant, "settings"), "the later one still needs it"
    gone(fleet, later)


def test_what_the_member_has_of_its_own_is_used_and_left_as_it_is(fleet: RealFleet, tenant: str) -> None:
    member = fleet.members[MEMBER]
    member.create("v1/namespaces", namespace(tenant))
    put(member, CONFIG_MAPS, tenant, settings(rate="theirs"))
    put(fleet.hub, CONFIG_MAPS, tenant, settings(rate="1"))
    one = sent_to(fleet, of_settings(tenant), MEMBER)
    until(one.runs, "it runs")
    assert sent(one) == {"ConfigMap settings": f"{MEMBER} has one of its own, which Fairway did not make"}
    one.delete()
    until(lambda: everything(member, tenant) == ["configmaps/settings"], "its own is left, and nothing else")
    assert there(fleet, CONFIG_MAPS, tenant, "settings")["data"] == {"rate": "theirs"}


@pytest.mark.parametrize("field", ["propagateDeps", "association"])
def test_a_policy_may_say_that_nothing_goes_along(fleet: RealFleet, tenant: str, field: str) -> None:
    put(fleet.hub, CONFIG_MAPS, tenant, settings(rate="1"))
    what = of_settings(tenant)
    alone = policy(what, MEMBER)
    alone["spec"][field] = False
    one = applied(fleet, what, alone)
    until(one.runs, "it runs")
    assert (sent(one), there(fleet, CONFIG_MAPS, tenant, "settings")) == ({}, {})


def test_what_its_policy_names_goes_along_though_its_pods_do_not_name_it(fleet: RealFleet, tenant: str) -> None:
    put(fleet.hub, CONFIG_MAPS, tenant, settings(rate="1"), {"metadata": {"name": "other"}, "data": {"x": "y"}})
    what = named(tenant)
    naming = policy(what, MEMBER)
    naming["spec"]["propagateDeps"] = False
    naming["spec"]["resourceSelectors"].append({"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"})
    one = applied(fleet, what, naming)
    until(one.runs, "it runs")
    assert set(sent(one)) == {"ConfigMap settings"}
    assert there(fleet, CONFIG_MAPS, tenant, "settings")["data"] == {"rate": "1"}
    assert not there(fleet, CONFIG_MAPS, tenant, "other")
    gone(fleet, one)


def test_a_token_of_the_hub_goes_nowhere_and_the_job_ends_with_that_reason(fleet: RealFleet, tenant: str) -> None:
    put(fleet.hub, ACCOUNTS, tenant, {"metadata": {"name": "runner"}})
    about = {"name": "token", "annotations": {"kubernetes.io/service-account.name": "runner"}}
    put(fleet.hub, SECRETS, tenant, {"metadata": about, "type": "kubernetes.io/service-account-token"})
    one = sent_to(fleet, named(tenant, env_from=[{"secretRef": {"name": "token"}}]), MEMBER)
    until(lambda: one.row().get("reason") == "CompanionRefused", f"it is refused; it is {one.row()}")
    assert "Secret token" in one.row()["text"]
    assert not there(fleet, SECRETS, tenant, "token")


def test_whoever_submits_over_http_has_to_have_the_right_to_read_what_the_job_names(
    fleet: RealFleet, tenant: str
) -> None:
    put(fleet.hub, SECRETS, tenant, {"metadata": {"name": "db"}, "stringData": {"password": "x"}})
    what = named(tenant, env_from=[{"secretRef": {"name": "db"}}])
    fleet.hub.apply(policy(what, MEMBER))
    known = _known_as(fleet.hub, tenant)
    done = httpx.post(f"{fleet.url}/v1/jobs", json={"manifest": what}, headers=known, trust_env=False)
    assert done.is_success, done.text
    path = f"/{done.json()['job']}"
    until(lambda: fleet.asked(path).get("state") in ("failed", "rejected"), "it is refused")
    why = fleet.asked(path)["why"]
    assert why["code"] == "CompanionRefused"
    assert f"ann may not get Secret db of namespace {tenant}" in why["text"]
    assert not there(fleet, SECRETS, tenant, "db")


def _known_as(hub: Api, tenant: str) -> dict[str, str]:
    """Somebody who may make jobs in the namespace, and reads nothing else there."""
    put(hub, ACCOUNTS, tenant, {"metadata": {"name": "ann"}})
    rules = [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]}]
    where = f"{rbac.RULES}/namespaces/{tenant}"
    hub.create(f"{where}/roles", {"metadata": {"name": "makes-jobs"}, "rules": rules})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "makes-jobs"}
    subject = {"kind": "ServiceAccount", "name": "ann", "namespace": tenant}
    meta = {"name": "makes-jobs"}
    hub.create(f"{where}/rolebindings", {"metadata": meta, "roleRef": ref, "subjects": [subject]})
    return {"Authorization": f"Bearer {rbac.token(hub, tenant, 'ann', ('fairway',))}"}
