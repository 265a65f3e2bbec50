"""A simulated cluster with identities asks who comes, and answers reviews as a real API server does."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from kubesim_support import TORCH, FixedClock, Json, torch

from fairway.lab.kubesim import KubeSim
from fairway.lab.kubesim.http.certificate import pair
from fairway.lab.kubesim.http.identities import AUDIENCE, MASTERS, Identity, Rule

OWN = Rule(("kubeflow.org",), ("pytorchjobs",), ("create", "get", "list", "watch", "delete"), ("team-a",))
SEES = Rule(("fairway.io",), ("queues",), ("list",))
FINDS = Rule(("",), ("configmaps",), ("get",), ("fairway-system",), ("fairway",))
ADMIN = Identity("token-of-admin", "admin", "1", (MASTERS,))
TENANT = Identity("token-of-team-a", "team-a", "2", ("tenants",), (OWN, SEES, FINDS))
ACCESS, TOKENS = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"


@contextlib.asynccontextmanager
async def asking() -> AsyncIterator[tuple[KubeSim, str]]:
    sim = KubeSim(FixedClock())
    sim.admit("hub", (ADMIN, TENANT))
    url = await sim.start_cluster("hub", controllers=False)
    try:
        yield sim, url
    finally:
        await sim.stop()


async def send(url: str, token: str, method: str, path: str, **given: Any) -> tuple[int, Any]:
    headers = {**({"Authorization": token} if token else {}), **given.pop("headers", {})}
    trust = ssl.create_default_context(cadata=pair().certificate.decode())
    connector = aiohttp.TCPConnector(ssl=trust)
    async with (
        aiohttp.ClientSession(url, connector=connector) as client,
        client.request(method, path, headers=headers, **given) as answer,
    ):
        text = await answer.text()
        return answer.status, json.loads(text) if text.startswith("{") else text


async def review(url: str, path: str, spec: Json, token: str = "Bearer token-of-admin") -> tuple[int, Json]:
    return await send(url, token, "POST", path, json={"spec": spec})


@pytest.mark.parametrize(
    ("token", "method", "path", "want"),
    [
        pytest.param("", "GET", TORCH, 401, id="nobody"),
        pytest.param("Bearer guessed", "GET", TORCH, 401, id="a token of nobody"),
        pytest.param("Basic dG9rZW4=", "GET", TORCH, 401, id="another way to say who"),
        pytest.param("Bearer ", "GET", TORCH, 401, id="an empty token"),
        pytest.param("", "GET", "/api", 401, id="nobody finds out what is served"),
        pytest.param("", "POST", "/sim/outage", 401, id="nobody breaks the cluster"),
        pytest.param("Bearer token-of-team-a", "POST", "/sim/outage", 403, id="nor does a tenant"),
        pytest.param("", "GET", "/healthz", 200, id="its health is no secret"),
        pytest.param("", "GET", "/version", 200, id="nor its version"),
        pytest.param("bearer token-of-team-a", "GET", TORCH, 200, id="its own, the scheme in small letters"),
        pytest.param("Bearer token-of-team-a", "GET", "/api/v1", 200, id="what is served"),
        pytest.param("Bearer token-of-team-a", "GET", f"{TORCH}/none", 404, id="one of its own that is not there"),
        pytest.param(
            "Bearer token-of-team-a", "GET", TORCH.replace("team-a", "team-b") + "/none", 403,
            id="another's, there or not",
        ),
        pytest.param("Bearer token-of-team-a", "GET", "/apis/kubeflow.org/v1/pytorchjobs", 403, id="everybody's"),
        pytest.param(
            "Bearer token-of-team-a", "PATCH", f"{TORCH}/a/status", 403, id="a status, which is not the object"
        ),
        pytest.param("Bearer token-of-team-a", "DELETE", TORCH, 403, id="all at once, which is another verb"),
        pytest.param("Bearer token-of-team-a", "GET", "/api/v1/namespaces", 403, id="the namespaces"),
        pytest.param(
            "Bearer token-of-team-a", "POST", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/kube-queue/queues", 403,
            id="a Queue",
        ),
        pytest.param(
            "Bearer token-of-team-a", "GET", "/api/v1/namespaces/fairway-system/configmaps/fairway", 404,
            id="where the fleet is",
        ),
        pytest.param(
            "Bearer token-of-team-a", "GET", "/api/v1/namespaces/fairway-system/configmaps/other", 403,
            id="what is beside it",
        ),
        pytest.param("Bearer token-of-team-a", "POST", f"{TOKENS}/tokenreviews", 403, id="who others are"),
        pytest.param("Bearer token-of-admin", "GET", "/api/v1/namespaces", 200, id="the administrator"),
        pytest.param("Bearer token-of-admin", "GET", f"{TOKENS}/tokenreviews", 405, id="reviews are not kept"),
    ],
)  # fmt: skip
async def test_who_may_ask_for_what(token: str, method: str, path: str, want: int) -> None:
    async with asking() as (_, url):
        code, said = await send(url, token, method, path)
        assert code == want, said
        if want in (401, 403):
            assert (said["kind"], said["code"]) == ("Status", want)
            assert said["reason"] == {401: "Unauthorized", 403: "Forbidden"}[want]


async def test_a_tenant_writes_in_its_own_namespace_and_in_no_other() -> None:
    async with asking() as (_, url):
        me = "Bearer token-of-team-a"
        assert (await send(url, me, "POST", TORCH, json=torch("a")))[0] == 201
        code, said = await send(url, me, "POST", TORCH.replace("team-a", "team-b"), json=torch("a"))
        assert code == 403
        assert said["message"] == (
            'pytorchjobs.kubeflow.org is forbidden: User "team-a" cannot create resource "pytorchjobs" in API group '
            '"kubeflow.org" in the namespace "team-b"'
        )
        elsewhere = torch("b")
        elsewhere["metadata"]["namespace"] = "team-b"
        assert (await send(url, me, "POST", TORCH, json=elsewhere))[0] == 400


async def test_the_kubeconfig_is_the_administrators() -> None:
    async with asking() as (sim, _):
        assert sim.kubeconfig("hub")["users"][0]["user"] == {"token": "token-of-admin"}


@pytest.mark.parametrize(
    ("token", "audiences", "user"),
    [
        pytest.param("token-of-team-a", None, "team-a", id="a token of the file"),
        pytest.param("token-of-team-a", ["fairway", AUDIENCE], "team-a", id="for the server and another audience"),
        pytest.param("token-of-team-a", ["fairway"], None, id="for another audience alone"),
        pytest.param("guessed", None, None, id="a token of nobody"),
        pytest.param("", None, None, id="no token"),
    ],
)
async def test_whose_a_token_is(token: str, audiences: list[str] | None, user: str | None) -> None:
    async with asking() as (_, url):
        spec = {"token": token, **({"audiences": audiences} if audiences else {})}
        code, said = await review(url, f"{TOKENS}/tokenreviews", spec)
        assert (code, said["kind"], said["apiVersion"]) == (201, "TokenReview", "authentication.k8s.io/v1")
        if user:
            about = {"username": "team-a", "uid": "2", "groups": ["tenants", "system:authenticated"]}
            assert said["status"] == {"authenticated": True, "user": about, "audiences": [AUDIENCE]}
        else:
            assert "authenticated" not in said["status"] and said["status"]["error"]


_JOBS = {"group": "kubeflow.org", "resource": "pytorchjobs", "namespace": "team-a"}


@pytest.mark.parametrize(
    ("who", "what", "want"),
    [
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create"}, True, id="its own"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create", "namespace": "b"}, False, id="another's"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create", "namespace": ""}, False, id="everybody's"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "get", "subresource": "status"}, False, id="a subresource"),
        pytest.param({"user": "team-a"}, {"verb": "list", "group": "fairway.io", "resource": "queues"}, True,
                     id="what no server serves"),
        pytest.param({"user": "admin", "groups": [MASTERS]}, {**_JOBS, "verb": "create"}, True, id="an administrator"),
        pytest.param({"user": "x", "groups": ["tenants"]}, {**_JOBS, "verb": "create"}, False, id="its groups alone"),
        pytest.param({"user": "admin"}, {**_JOBS, "verb": "create"}, False,
                     id="an administrator whose groups were not said"),
    ],
)  # fmt: skip
async def test_whether_somebody_may(who: Json, what: Json, want: bool) -> None:
    async with asking() as (_, url):
        code, said = await review(url, f"{ACCESS}/subjectaccessreviews", {**who, "resourceAttributes": what})
        assert (code, said["kind"], said["status"]["allowed"]) == (201, "SubjectAccessReview", want)
        assert bool(said["status"].get("reason")) is want


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"user": "a"}, id="nothing is asked"),
        pytest.param({"resourceAttributes": {"verb": "get"}}, id="of nobody"),
        pytest.param({"user": "a", "resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}},
                     id="two things at once"),
    ],
)  # fmt: skip
async def test_half_a_question_is_refused(spec: Json) -> None:
    async with asking() as (_, url):
        code, said = await review(url, f"{ACCESS}/subjectaccessreviews", spec)
        assert (code, said["reason"]) == (422, "Invalid")


async def test_anybody_may_ask_about_themselves() -> None:
    async with asking() as (_, url):
        me = "Bearer token-of-team-a"
        _, mine = await review(
            url, f"{ACCESS}/selfsubjectaccessreviews", {"resourceAttributes": {**_JOBS, "verb": "get"}}, me
        )
        _, who = await review(url, f"{TOKENS}/selfsubjectreviews", {}, me)
        assert mine["status"]["allowed"] is True
        assert who["status"]["userInfo"]["username"] == "team-a"


async def test_an_administrator_speaks_for_others_and_a_tenant_does_not() -> None:
    async with asking() as (_, url):
        other = {"headers": {"Impersonate-User": "team-a"}}
        assert (await send(url, "Bearer token-of-admin", "GET", TORCH, **other))[0] == 200
        assert (await send(url, "Bearer token-of-admin", "GET", "/api/v1/namespaces", **other))[0] == 403
        raised = {"headers": {"Impersonate-User": "admin", "Impersonate-Group": MASTERS}}
        assert (await send(url, "Bearer token-of-team-a", "GET", TORCH, **raised))[0] == 403


async def test_without_identities_nobody_is_asked() -> None:
    sim = KubeSim(FixedClock())
    url = await sim.start_cluster("hub", controllers=False)
    try:
        assert (await send(url, "", "GET", TORCH))[0] == 200
        code, said = await review(url, f"{ACCESS}/selfsubjectaccessreviews", {"resourceAttributes": {}}, "")
        assert (code, said["status"]) == (201, {"allowed": True})
        assert (await review(url, f"{TOKENS}/tokenreviews", {"token": "any"}, ""))[0] == 404
        assert sim.kubeconfig("hub")["users"][0]["user"] == {}
    finally:
        await sim.stop()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(("auth", "can-i", "create", "pytorchjobs.kubeflow.org", "-n", "team-a"), 0, "yes", id="its own"),
        pytest.param(("auth", "can-i", "create", "pytorchjobs.kubeflow.org", "-n", "b"), 1, "no\n", id="another's"),
        pytest.param(("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"), 0, "team-a", id="who it is"),
        pytest.param(("get", "pytorchjobs", "-n", "team-a"), 0, "No resources found", id="its list"),
        pytest.param(("get", "pytorchjobs", "-A"), 1, "cannot list resource", id="everybody's list"),
    ],
)
async def test_kubectl_asks_it(words: tuple[str, ...], code: int, says: str, kubectl: Path, tmp_path: Path) -> None:
    async with asking() as (sim, _):
        config = sim.kubeconfig("hub")
        config["users"][0]["user"] = {"token": "token-of-team-a"}
        (tmp_path / "config").write_text(json.dumps(config))
        process = await asyncio.create_subprocess_exec(
            str(kubectl), "--kubeconfig", str(tmp_path / "config"), "--cache-dir", str(tmp_path), *words,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        said, _ = await asyncio.wait_for(process.communicate(), 60)
        assert (process.returncode, says in said.decode()) == (code, True), said.decode()
