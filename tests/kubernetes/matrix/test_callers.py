"""Callers of the HTTP door, as a real hub knows them: its tokens, its RBAC with the roles of deploy/hub, its reviews.

The gateway asks with Fairway's own account and no other rights than those of deploy/hub/rights.yaml."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import yaml

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.runtime.cluster_port import Cluster
from tests.contract.http_callers.test_callers import ASKED, ROLES, A, B, ask, rows
from tests.kubernetes.rights.rbac import RULES, binding, token
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.own import Own
from tests.paths import ROOT
from tests.support.http_door import House, job, opened

DEPLOY = ROOT / "deploy" / "hub"
# Role: its namespace and service account, what its token was made for, and the ClusterRoles that it has: in team-a or
# team-b, or (without a namespace) everywhere.
PEOPLE = {
    "admin": ("platform", "admin", (), [("", "fairway-operator")]),
    "tenant A": ("team-a", "ci", ("fairway",), [("team-a", "fairway-tenant"), ("", "see-queues")]),
    "tenant B": ("team-b", "ci", (), [("team-b", "fairway-tenant"), ("", "see-queues")]),
    "viewer of A": ("team-a", "viewer", ("fairway",), [("team-a", "view")]),
    "nobody": ("team-b", "nobody", (), []),
}


@pytest.fixture(scope="module")
def hub(own: Own) -> Api:
    """With Fairway's rights and roles, and everybody's accounts."""
    hub = own.api("ruled")
    for name in ("rights.yaml", "callers.yaml"):
        hub.apply(*yaml.safe_load_all((DEPLOY / name).read_text()))
    queues = {"apiGroups": ["fairway.io"], "resources": ["queues"], "verbs": ["list"]}
    role = {"apiVersion": RULES, "kind": "ClusterRole", "metadata": {"name": "see-queues"}, "rules": [queues]}
    homes = sorted({home for home, *_ in PEOPLE.values()})
    hub.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}} for home in homes), role)
    for home, account, _, roles in PEOPLE.values():
        about = {"name": account, "namespace": home}
        hub.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about})
        for namespace, cluster_role in roles:
            hub.apply(binding(f"{home}-{account}-{cluster_role}", cluster_role, (home, account), namespace))

    def gathered(name: str) -> bool:
        found = hub.get(f"{RULES}/clusterroles/{name}") or {}
        return len(found.get("rules") or ()) > 1

    for name in ("fairway-tenant", "fairway-operator"):
        until(lambda name=name: gathered(name), f"{name} has rules")
    until(lambda: "fairway.io" in str(hub.get(f"{RULES}/clusterroles/view")), "whoever views, views jobs")
    return hub


@pytest.fixture(scope="module")
def tokens(hub: Api) -> dict[str, str]:
    return {role: token(hub, home, account, wanted) for role, (home, account, wanted, _) in PEOPLE.items()}


@pytest_asyncio.fixture
async def gateways_hub(hub: Api) -> AsyncIterator[Cluster]:
    """As Fairway's own account sees it."""
    config = json.loads(json.dumps(yaml.safe_load(hub.kubeconfig.read_text())))
    config["users"][0]["user"] = {"token": token(hub, "fairway-system", "fairway")}
    cluster = await KubernetesCluster.from_kubeconfig("hub", config)
    yield cluster
    await cluster.close()


@pytest_asyncio.fixture
async def house(gateways_hub: Cluster) -> AsyncIterator[House]:
    async with opened(hub=gateways_hub) as one:
        await one.has(*rows())
        yield one


@pytest.mark.parametrize("role", list(ROLES))
async def test_each_role_may_do_what_the_hub_lets_it(house: House, tokens: dict[str, str], role: str) -> None:
    got = {}
    want = {}
    async with house.client(tokens[role]) as client:
        for what, (request, statuses) in ASKED.items():
            got[what] = (await ask(client, request)).status_code
            want[what] = statuses[list(ROLES).index(role)]
    assert got == want


async def test_tenant_a_acts_in_its_own_namespace_alone(house: House, tokens: dict[str, str]) -> None:
    async with house.client(tokens["tenant A"]) as client:
        listed = await client.get("/v1/jobs")
        elsewhere = await client.post("/v1/jobs", json={"manifest": job(namespace="team-b")})
        foreign = [(await client.get(f"/v1/jobs/{one}")).status_code for one in (A, B, "none-aaaaaaaaaa")]
    assert [one["id"] for one in listed.json()["items"]] == [A]
    assert (elsewhere.status_code, foreign) == (403, [200, 404, 404])


async def test_who_asked_stands_in_the_record(house: House, tokens: dict[str, str]) -> None:
    async with house.client(tokens["tenant A"]) as client:
        assert (await client.post("/v1/jobs", json={"manifest": job()})).status_code == 202
    (said,) = await house.submitted()
    assert said.who is not None
    assert (said.who.user, said.who.via) == ("system:serviceaccount:team-a:ci", "http")


BAD = {
    "no token": None,
    "a made up one": "abc",
    "one of another audience": "vault",
    "one whose end was cut off": "cut",
    "a blank and one": "blank",
}


@pytest.mark.parametrize("what", BAD)
async def test_a_bad_token_is_nobodys(house: House, hub: Api, tokens: dict[str, str], what: str) -> None:
    """A blank and a token is what an API server itself takes for no token at all."""
    sent = {
        "no token": "",
        "a made up one": "Bearer abc.def.ghi",
        "one of another audience": f"Bearer {token(hub, 'platform', 'admin', ('vault',))}",
        "one whose end was cut off": f"Bearer {tokens['admin'][:-8]}",
        "a blank and one": f"Bearer  {tokens['admin']}",
    }[what]
    async with house.client() as client:
        got = await client.get("/v1/queues", headers={"Authorization": sent} if sent else {})
    assert (got.status_code, got.json()["code"]) == (401, "Unauthenticated")


async def test_an_api_server_lets_a_blank_token_in_as_nobody_which_is_why_none_is_shown_to_it(hub: Api) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": " x"}}
    said = hub.create("authentication.k8s.io/v1/tokenreviews", body)["status"]
    assert (said["authenticated"], said["user"]["username"]) == (True, "system:anonymous")


async def test_a_right_that_is_taken_away_is_gone_within_a_minute(house: House, hub: Api) -> None:
    home = "team-a"
    account = "leaving"
    hub.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": home}})
    hub.apply(binding(account, "fairway-tenant", (home, account), home))
    async with house.client(token(hub, home, account, ("fairway",))) as client:
        assert (await client.get(f"/v1/jobs/{A}")).status_code == 200
        hub.delete(f"{RULES}/namespaces/{home}/rolebindings/{account}")

        def gone() -> bool:
            about = {"verb": "get", "group": "fairway.io", "resource": "jobs", "namespace": home}
            user = f"system:serviceaccount:{home}:{account}"
            spec = {"user": user, "groups": [f"system:serviceaccounts:{home}"], "resourceAttributes": about}
            return not hub.create("authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})["status"]["allowed"]

        until(gone, "the hub knows")
        await house.clock.advance(61)
        assert (await client.get(f"/v1/jobs/{A}")).status_code == 404
        hub.delete(f"v1/namespaces/{home}/serviceaccounts/{account}")
        await house.clock.advance(61)
        got = await client.get("/v1/queues")
        # The API server itself remembers a good token for ten seconds.
        assert got.status_code in (401, 403)


async def test_the_gateways_account_can_ask_and_cannot_do_it_itself(gateways_hub: Cluster) -> None:
    said = await gateways_hub.review(
        "SubjectAccessReview.authorization.k8s.io/v1",
        {
            "spec": {
                "user": "system:serviceaccount:fairway-system:fairway",
                "resourceAttributes": {"verb": "create", "group": "", "resource": "pods", "namespace": "team-a"},
            }
        },
    )
    assert said["status"]["allowed"] is False
