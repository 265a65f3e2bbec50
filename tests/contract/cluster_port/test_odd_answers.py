"""The cluster port against the answers that are rare: busy, expired, half-open, nonsense."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Unreachable
from tests.support.scripted_api import Answer, ScriptedApi, json, status

KIND = "ConfigMap.v1"
QUICK = WatchPace(first=0.01, most=0.05, absent=0.02, idle=0.1)


@asynccontextmanager
async def api(*answers: web.Response | Answer) -> AsyncIterator[tuple[ScriptedApi, KubernetesCluster]]:
    async with ScriptedApi(*answers) as scripted:
        cluster = await KubernetesCluster.from_kubeconfig("m1", scripted.kubeconfig, Options(pace=QUICK))
        try:
            yield scripted, cluster
        finally:
            await cluster.close()


def config_map(name: str = "a", uid: str = "1", version: str = "7") -> dict[str, Any]:
    labels = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}
    metadata = {"name": name, "namespace": "team", "uid": uid, "resourceVersion": version, "labels": labels}
    return {"metadata": metadata}


def page(*items: dict[str, Any], version: str = "7") -> web.Response:
    return json({"metadata": {"resourceVersion": version}, "items": list(items)})


def lines(*events: Any, hang: bool = False) -> Answer:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for event in events:
            await response.write((event if isinstance(event, bytes) else msgspec.json.encode(event)) + b"\n")
        if hang:
            await asyncio.Event().wait()
        return response

    return answer


async def told(cluster: KubernetesCluster, syncs: int, kind: str = KIND) -> list[str]:
    """What a watch tells until it has synced `syncs` times."""
    found: list[str] = []
    async with aclosing(cluster.watch(kind)) as changes, asyncio.timeout(5):
        async for change in changes:
            found.append("synced" if change.synced else ("-" if change.gone else "+") + change.name)
            if found.count("synced") == syncs:
                break
    return found


async def test_a_busy_server_is_asked_again_when_it_said() -> None:
    busy = json({"message": "busy"}, 429, Retry_After="0")
    async with api(busy, busy, json(config_map())) as (scripted, cluster):
        assert await cluster.get(KIND, "team", "a") == config_map()
        assert len(scripted.asked) == 3


async def test_a_server_that_stays_busy_leaves_the_outcome_open() -> None:
    async with api(json({}, 429, Retry_After="0")) as (scripted, cluster):
        with pytest.raises(Unreachable, match="too many requests"):
            await cluster.get(KIND, "team", "a")
        assert len(scripted.asked) == 4


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(status(401, "Unauthorized"), Unreachable, id="credentials that expired may be renewed"),
        pytest.param(status(500, "InternalError"), Unreachable, id="an internal error says nothing of the outcome"),
        pytest.param(status(504, "Timeout"), Unreachable, id="nor does a gateway's time-out"),
        pytest.param(json({}, 302, Location="/api/v1"), Unreachable, id="a redirect is not followed"),
        pytest.param(status(403, "Forbidden"), ClusterRefused, id="what is forbidden is refused"),
        pytest.param(status(409, "Conflict"), ClusterRefused, id="so is a conflict"),
        pytest.param(web.Response(text="too large", status=413), ClusterRefused, id="also in plain text"),
    ],
)
async def test_what_an_answer_means(answer: web.Response, want: type[Exception]) -> None:
    async with api(answer) as (_, cluster):
        with pytest.raises(want):
            await cluster.create(KIND, config_map())


async def test_a_namespace_that_went_is_made_once() -> None:
    no_namespace = status(404, "NotFound", kind="namespaces", name="team")
    async with api(no_namespace, json(config_map()), json(config_map())) as (scripted, cluster):
        assert (await cluster.apply(KIND, config_map())).uid == "1"
        assert [one.split("?")[0] for one in scripted.asked] == [
            "POST /api/v1/namespaces/team/configmaps",
            "POST /api/v1/namespaces",
            "POST /api/v1/namespaces/team/configmaps",
        ]


async def test_an_object_is_applied_with_one_call_and_its_namespace_is_looked_at_once_for_all() -> None:
    async with api(json(config_map())) as (scripted, cluster):
        found = await asyncio.gather(*(cluster.apply(KIND, config_map()) for _ in range(20)))
        assert found == [Applied("1")] * 20
        assert [one.split("?")[0] for one in scripted.asked] == ["POST /api/v1/namespaces/team/configmaps"] * 20
        assert (scripted.looks, scripted.bound) == (1, 1)


def _no_right(verb: str) -> web.Response:
    who = 'User "system:serviceaccount:fairway-system:fairway-member"'
    what = f'cannot {verb} resource "configmaps" in API group "" in the namespace "team"'
    message = f"configmaps is forbidden: {who} {what}"
    return json({"kind": "Status", "reason": "Forbidden", "message": message, "code": 403}, 403)


async def test_a_right_that_was_lost_in_a_namespace_is_made_anew_for_whatever_needs_it() -> None:
    async with api(json(config_map()), _no_right("create"), json(config_map())) as (scripted, cluster):
        await cluster.apply(KIND, config_map())
        assert await cluster.apply(KIND, config_map()) == Applied("1")
        assert (scripted.looks, scripted.bound) == (1, 2)
    async with api(_no_right("delete"), json({})) as (scripted, cluster):
        await cluster.discard(KIND, "team", {"fairway.io/job": "j1"})
        assert scripted.bound == 1
    async with api(_no_right("patch"), json(config_map())) as (scripted, cluster):
        await cluster.patch(KIND, "team", "a", {"metadata": {}})
        assert scripted.bound == 1


async def test_who_may_make_no_binding_because_of_a_policy_is_told_what_the_policy_says() -> None:
    message = "ValidatingAdmissionPolicy 'x' denied request: no label: join NAME --adopt-namespaces team"
    async with api(_no_right("create")) as (scripted, cluster):
        scripted.binding = json({"kind": "Status", "reason": "Invalid", "message": message, "code": 422}, 422)
        with pytest.raises(ClusterRefused, match="--adopt-namespaces team"):
            await cluster.apply(KIND, config_map())
        scripted.binding = _no_right("create")
        with pytest.raises(ClusterRefused, match='cannot create resource "configmaps"'):
            await cluster.apply(KIND, config_map())


async def test_an_account_that_may_not_look_at_namespaces_works_with_its_rights_of_before() -> None:
    async with api(json(config_map())) as (scripted, cluster):
        scripted.namespace = status(403, "Forbidden")
        await cluster.apply(KIND, config_map())
        assert await cluster.apply(KIND, config_map(), "restricted") == Applied("1")
        assert (scripted.looks, scripted.bound) == (1, 0)


async def test_an_object_that_is_there_is_looked_at_before_it_is_adopted() -> None:
    async with api(status(409, "AlreadyExists"), json(config_map())) as (_, cluster):
        assert await cluster.apply(KIND, config_map()) == Applied("1", adopted=True)


async def test_two_writes_that_met_in_a_quota_are_tried_again() -> None:
    async with api(status(409, "Conflict"), json(config_map())) as (_, cluster):
        assert await cluster.apply(KIND, config_map()) == Applied("1")


async def test_an_object_that_comes_and_goes_is_left_to_another_time() -> None:
    absent = status(404, "NotFound", kind="configmaps", name="a")
    async with api(*(status(409, "AlreadyExists"), absent) * 4) as (scripted, cluster):
        with pytest.raises(Unreachable, match="neither created nor found"):
            await cluster.apply(KIND, config_map())
        assert len(scripted.asked) == 8


async def test_an_object_that_is_being_deleted_is_not_adopted() -> None:
    leaving = config_map()
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    async with api(status(409, "AlreadyExists"), json(leaving)) as (_, cluster):
        with pytest.raises(ClusterRefused, match="apply again when it is gone"):
            await cluster.apply(KIND, config_map())


async def test_a_webhook_that_is_away_refuses_the_object_and_is_no_outage() -> None:
    text = 'Internal error occurred: failed calling webhook "v.example.org": connection refused'
    away = json({"kind": "Status", "reason": "InternalError", "message": text, "code": 500}, 500)
    async with api(away) as (_, cluster):
        with pytest.raises(ClusterRefused, match=r"v\.example\.org") as refused:
            await cluster.apply(KIND, config_map())
        assert refused.value.code == "WebhookFailed"


@pytest.mark.parametrize(
    "end",
    [
        pytest.param({"type": "ERROR", "object": {"code": 410, "reason": "Expired"}}, id="an event says expired"),
        pytest.param(b'{"type": "ADDED", "obj', id="a line is broken"),
        pytest.param({"type": "ADDED", "object": {"metadata": {}}}, id="an object has no name"),
    ],
)
async def test_a_watch_that_cannot_go_on_lists_anew(end: Any) -> None:
    script = (page(config_map("a"), config_map("b")), lines(end), page(config_map("b", version="9"), version="9"))
    async with api(*script) as (scripted, cluster):
        assert await told(cluster, syncs=2) == ["+a", "+b", "synced", "+b", "-a", "synced"]
        assert "resourceVersion=7" in scripted.asked[1] and "allowWatchBookmarks=true" in scripted.asked[1]


async def test_a_watch_that_ends_goes_on_where_its_last_bookmark_was() -> None:
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "42"}}}
    added = {"type": "ADDED", "object": config_map("b", "2", "43")}
    expired = {"type": "ERROR", "object": {"code": 410}}
    async with api(page(), lines(bookmark), lines(added, expired), page()) as (scripted, cluster):
        assert await told(cluster, syncs=2) == ["synced", "+b", "-b", "synced"]
        assert "resourceVersion=42" in scripted.asked[2]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(({"type": "ADDED", "object": config_map("a", version="8")},), id="after it told something"),
        pytest.param((), id="from its beginning"),
    ],
)
async def test_a_watch_that_falls_silent_lists_anew_and_needs_no_other_watch_to_speak(said: Any) -> None:
    silent = lines(*said, hang=True)
    async with api(page(), silent, page(config_map("b", version="9"), version="9"), silent) as (scripted, cluster):
        found = await told(cluster, syncs=2)
        assert [one for one in found if not one.endswith("a")] == ["synced", "+b", "synced"]
        assert [one for one in found if one.endswith("a")] == ["+a", "-a"][: 2 * len(said)]
        assert ["watch=1" in one for one in scripted.asked] == [False, True, False]


async def test_a_watch_that_was_refused_asks_again_as_soon_as_there_are_other_credentials() -> None:
    async with ScriptedApi(status(401, "Unauthorized"), page(config_map())) as scripted:
        patient = Options(pace=WatchPace(first=60, most=60))
        cluster = await KubernetesCluster.from_kubeconfig("m1", scripted.kubeconfig, patient)
        telling = asyncio.create_task(told(cluster, syncs=1))
        while not scripted.asked:
            await asyncio.sleep(0.01)
        while not telling.done():
            await cluster.renew(scripted.kubeconfig)
            await asyncio.sleep(0.01)
        assert telling.result() == ["+a", "synced"]
        await cluster.close()
