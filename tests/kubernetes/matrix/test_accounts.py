"""Identities of a file mean the same on a simulated hub and on a real API server: who comes, and who may do what."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from fairway.adapters.system_clock import SystemClock
from fairway.lab.fleet.identities import administrator, tenant
from fairway.lab.kubereal.accounts import rights
from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.control_plane import Spec
from fairway.lab.kubesim import KubeSim
from fairway.lab.kubesim.http.identities import AUDIENCE, MASTERS
from tests.kubernetes.support.own import Own

KNOWN = (administrator(), tenant("team-vision"), tenant("team-data"))
ADMIN, VISION, DATA = (one.token for one in KNOWN)
HERE = "/apis/batch/v1/namespaces/team-vision/jobs"
THERE = "/apis/batch/v1/namespaces/team-data/jobs"
ACCESS = "/apis/authorization.k8s.io/v1"
TOKENS = "/apis/authentication.k8s.io/v1"
POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": POD}}}
REVIEWED = ("audiences", "authenticated", "user", "allowed", "userInfo")


class Two:
    """The same request to both."""

    def __init__(self, real: aiohttp.ClientSession, simulated: aiohttp.ClientSession) -> None:
        self._servers = real, simulated

    async def ask(self, token: str, method: str, path: str, body: Any = None) -> list[tuple[int, Any]]:
        found = []
        for one in self._servers:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with one.request(method, path, json=body, headers=headers) as answer:
                found.append((answer.status, await answer.json()))
        return found


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def two(own: Own) -> AsyncIterator[Two]:
    sim = KubeSim(SystemClock())
    plane = await asyncio.to_thread(own.do, own.begun(Spec("accounts", identities=KNOWN)))
    async with admin(plane) as hands:
        await hands.apply(rights(KNOWN))
    sim.admit("hub", KNOWN)
    await sim.start_cluster("hub", controllers=False)
    real = plane.certificate()
    simulated = sim.clusters["hub"].certificate
    trusts = [ssl.create_default_context(cadata=one.decode()) for one in (real, simulated)]
    ways = [aiohttp.TCPConnector(ssl=trust) for trust in trusts]
    async with (
        aiohttp.ClientSession(plane.url, connector=ways[0]) as first,
        aiohttp.ClientSession(sim.clusters["hub"].url, connector=ways[1]) as second,
    ):
        yield Two(first, second)
    await sim.stop()


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(("guessed", "GET", HERE), 401, id="a token of nobody"),
        pytest.param((VISION, "GET", HERE), 200, id="its own jobs"),
        pytest.param((VISION, "POST", HERE, JOB), 201, id="a job of its own"),
        pytest.param((VISION, "POST", THERE, JOB), 403, id="a job of another's"),
        pytest.param((VISION, "GET", THERE), 403, id="another's jobs"),
        pytest.param((VISION, "GET", f"{THERE}/a"), 403, id="a job of another's that may be there or not"),
        pytest.param((DATA, "GET", f"{THERE}/none"), 404, id="one of its own that is not there"),
        pytest.param((VISION, "GET", "/apis/batch/v1/jobs"), 403, id="everybody's jobs"),
        pytest.param((VISION, "DELETE", HERE), 403, id="all its jobs at once"),
        pytest.param((VISION, "PATCH", f"{HERE}/a/status", {}), 403, id="a status"),
        pytest.param((VISION, "GET", "/api/v1/namespaces/team-vision"), 200, id="its namespace"),
        pytest.param((VISION, "GET", "/api/v1/namespaces"), 403, id="all namespaces"),
        pytest.param((VISION, "GET", "/api/v1/namespaces/team-vision/secrets"), 403, id="secrets"),
        pytest.param((VISION, "GET", "/api/v1/namespaces/fairway-system/configmaps/fairway"), 404, id="the plate"),
        pytest.param((VISION, "GET", "/api/v1/namespaces/fairway-system/configmaps"), 403, id="what is beside it"),
        pytest.param((VISION, "GET", "/api/v1/nodes"), 403, id="nodes"),
        pytest.param((VISION, "GET", "/apis"), 200, id="what is served"),
        pytest.param((VISION, "POST", f"{TOKENS}/tokenreviews", {}), 403, id="who others are"),
        pytest.param((ADMIN, "GET", "/api/v1/nodes"), 200, id="the administrator"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_gets_the_same_answer(two: Two, asked: tuple[Any, ...], want: int) -> None:
    real, simulated = await two.ask(*asked)
    assert (real[0], simulated[0]) == (want, want), (real, simulated)
    if want in (401, 403):
        # A real server says who holds which role, too; we have none by name.
        assert simulated[1]["message"] == real[1]["message"].partition(": RBAC:")[0]
        assert (simulated[1].get("details") or {}) == (real[1].get("details") or {})


def _access(who: str, verb: str, resource: str, namespace: str = "", group: str = "batch") -> Any:
    groups = [MASTERS] if who == "admin" else []
    about = {"verb": verb, "resource": resource, "group": group, "namespace": namespace}
    return f"{ACCESS}/subjectaccessreviews", {"user": who, "groups": groups, "resourceAttributes": about}


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        pytest.param(*_access("team-vision", "create", "jobs", "team-vision"), id="create its own"),
        pytest.param(*_access("team-vision", "create", "jobs", "team-data"), id="create another's"),
        pytest.param(*_access("team-vision", "create", "jobs"), id="create anywhere"),
        pytest.param(*_access("team-vision", "list", "jobs", "team-vision", "fairway.io"), id="list at the door"),
        pytest.param(*_access("team-vision", "list", "jobs", "", "fairway.io"), id="list everybody's at the door"),
        pytest.param(*_access("team-vision", "list", "queues", "", "fairway.io"), id="list queues"),
        pytest.param(*_access("team-vision", "list", "quotas", "", "fairway.io"), id="list quota"),
        pytest.param(*_access("team-vision", "list", "record", "", "fairway.io"), id="read the record"),
        pytest.param(
            *_access("team-vision", "patch", "elasticquotatrees", "kube-system", "scheduling.sigs.k8s.io"),
            id="set the quota tree",
        ),
        pytest.param(
            *_access("team-vision", "patch", "propagationpolicies", "team-vision", "policy.karmada.io"),
            id="set a policy of its own",
        ),
        pytest.param(*_access("nobody", "list", "jobs", "team-vision"), id="nobody"),
        pytest.param(*_access("admin", "delete", "jobs", "team-data"), id="the administrator"),
        pytest.param(f"{TOKENS}/tokenreviews", {"token": VISION}, id="whose a token is"),
        pytest.param(f"{TOKENS}/tokenreviews", {"token": VISION, "audiences": ["fairway"]}, id="for another audience"),
        pytest.param(f"{TOKENS}/tokenreviews", {"token": VISION, "audiences": ["fairway", AUDIENCE]}, id="for both"),
        pytest.param(f"{TOKENS}/tokenreviews", {"token": "guessed"}, id="a token of nobody"),
        pytest.param(f"{TOKENS}/selfsubjectreviews", {}, id="who one is oneself"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_review_gets_the_same_answer(two: Two, path: str, spec: Any) -> None:
    body = {} if path.endswith("selfsubjectreviews") else {"spec": spec}
    real, simulated = await two.ask(ADMIN, "POST", path, body)
    assert (real[0], simulated[0]) == (201, 201), (real, simulated)
    told = (real[1]["status"], simulated[1]["status"])
    kept = [{field: one[field] for field in REVIEWED if field in one} for one in told]
    for one in kept:
        one.setdefault("authenticated", False)  # unsaid is no
        if info := one.get("userInfo"):
            info.pop("extra", None)
    assert kept[1] == kept[0]
