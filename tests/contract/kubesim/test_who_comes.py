"""A simulated cluster with identities asks who comes, and lets nobody do more than he may."""

import asyncio
import json
from pathlib import Path

import pytest

from fairway.lab.kubesim.http.identities import MASTERS
from tests.support.access_reviews import TOKENS, asking, send
from tests.support.kubesim import TORCH, torch


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
            "Bearer token-of-team-a",
            "GET",
            TORCH.replace("team-a", "team-b") + "/none",
            403,
            id="another's, there or not",
        ),
        pytest.param("Bearer token-of-team-a", "GET", "/apis/kubeflow.org/v1/pytorchjobs", 403, id="everybody's"),
        pytest.param(
            "Bearer token-of-team-a", "PATCH", f"{TORCH}/a/status", 403, id="a status, which is not the object"
        ),
        pytest.param("Bearer token-of-team-a", "DELETE", TORCH, 403, id="all at once, which is another verb"),
        pytest.param("Bearer token-of-team-a", "GET", "/api/v1/namespaces", 403, id="the namespaces"),
        pytest.param(
            "Bearer token-of-team-a",
            "POST",
            "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/kube-queue/queues",
            403,
            id="a Queue",
        ),
        pytest.param(
            "Bearer token-of-team-a",
            "GET",
            "/api/v1/namespaces/fairway-system/configmaps/fairway",
            404,
            id="where the fleet is",
        ),
        pytest.param(
            "Bearer token-of-team-a",
            "GET",
            "/api/v1/namespaces/fairway-system/configmaps/other",
            403,
            id="what is beside it",
        ),
        pytest.param("Bearer token-of-team-a", "POST", f"{TOKENS}/tokenreviews", 403, id="who others are"),
        pytest.param("Bearer token-of-admin", "GET", "/api/v1/namespaces", 200, id="the administrator"),
        pytest.param("Bearer token-of-admin", "GET", f"{TOKENS}/tokenreviews", 405, id="reviews are not kept"),
    ],
)
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


async def test_an_administrator_speaks_for_others_and_a_tenant_does_not() -> None:
    async with asking() as (_, url):
        other = {"headers": {"Impersonate-User": "team-a"}}
        assert (await send(url, "Bearer token-of-admin", "GET", TORCH, **other))[0] == 200
        assert (await send(url, "Bearer token-of-admin", "GET", "/api/v1/namespaces", **other))[0] == 403
        raised = {"headers": {"Impersonate-User": "admin", "Impersonate-Group": MASTERS}}
        assert (await send(url, "Bearer token-of-team-a", "GET", TORCH, **raised))[0] == 403


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
            str(kubectl),
            "--kubeconfig",
            str(tmp_path / "config"),
            "--cache-dir",
            str(tmp_path),
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            stdin=asyncio.subprocess.DEVNULL,
        )
        said, _ = await asyncio.wait_for(process.communicate(), 60)
        assert (process.returncode, says in said.decode()) == (code, True), said.decode()
