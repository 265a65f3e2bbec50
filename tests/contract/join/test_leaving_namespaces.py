"""`fairway leave --kubeconfig`: a namespace that Fairway made goes only if nothing can be in it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from fairway.adapters.kubernetes.admin import Admin
from fairway.join import adopted_namespaces
from tests.support.scripted_api import ScriptedApi, json, status

RBAC = "rbac.authorization.k8s.io"
SERVED = {RBAC: ("rolebindings", "RoleBinding"), "batch": ("jobs", "Job"), "far.example.org": ("things", "Thing")}
AT = {group: f"{group}/v1" for group in SERVED}
TENANTS = {"items": [{"metadata": {"name": "team", "labels": {"fairway.io/tenant": "team"}}}]}
EMPTY: dict[str, Any] = {"items": []}
Answers = dict[str, Callable[[], web.Response]]


def aggregated(stale: str = "") -> web.Response:
    items = []
    for group, (plural, kind) in SERVED.items():
        known = [] if group == stale else [{"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced"}]
        version = {"version": "v1", "freshness": "Stale" if group == stale else "Current", "resources": known}
        items.append({"metadata": {"name": group}, "versions": [version]})
    return json({"kind": "APIGroupDiscoveryList", "items": items})


def plain() -> web.Response:
    groups = [{"name": group, "versions": [{"groupVersion": at}]} for group, at in AT.items()]
    return json({"kind": "APIGroupList", "groups": groups})


def entries(group: str) -> web.Response:
    plural, kind = SERVED[group]
    return json({"resources": [{"name": plural, "kind": kind, "namespaced": True}]})


@asynccontextmanager
async def member(**more: Callable[[], web.Response]) -> AsyncIterator[tuple[ScriptedApi, Admin]]:
    """An API with one namespace of Fairway's; `more` answers by the last word of the path."""
    answers: Answers = {"apis": aggregated, "namespaces": lambda: json(TENANTS)}
    answers |= {at: (lambda group=group: entries(group)) for group, at in AT.items()}

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "DELETE":
            return json({})
        for path, given in {**answers, **more}.items():
            if request.path.endswith(f"/{path}"):
                return given()
        return json(EMPTY)

    async with ScriptedApi(answer) as scripted, Admin.open("north", scripted.kubeconfig, loopback=True) as admin:
        yield scripted, admin


def job() -> web.Response:
    return json({"items": [{"metadata": {"name": "theirs"}}]})


CASES: dict[str, tuple[Answers, str]] = {
    "nothing is in it": ({}, ""),
    "a kind that is gone by now": ({"jobs": lambda: status(404, "NotFound")}, ""),
    "a kind that nobody can list": ({"jobs": lambda: status(405, "MethodNotAllowed")}, ""),
    "a kind that he may not list": ({"configmaps": lambda: status(403, "Forbidden")}, "ConfigMap.v1 cannot be listed"),
    "a kind that he may list too often": ({"jobs": lambda: status(410, "Gone")}, "Job.batch/v1 cannot be listed"),
    "a job of somebody": ({"jobs": job}, "Job theirs is in it"),
    "a job of somebody, where groups are told one by one": ({"apis": plain, "jobs": job}, "Job theirs is in it"),
    "nothing, where groups are told one by one": ({"apis": plain}, ""),
    "a group whose API is away": (
        {"apis": lambda: aggregated("far.example.org")},
        "the kinds of far.example.org/v1 cannot be listed",
    ),
    "a group whose API is away, told by itself": (
        {"apis": plain, "far.example.org/v1": lambda: status(403, "Forbidden")},
        "the kinds of far.example.org/v1 cannot be listed",
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_namespace_goes_only_if_nothing_can_be_in_it(case: str) -> None:
    answers, why = CASES[case]
    said: list[str] = []
    async with member(**answers) as (scripted, admin):
        await adopted_namespaces.release(admin, said.append)
    deleted = "DELETE /api/v1/namespaces/team" in scripted.asked
    assert (deleted, bool(said)) == (not why, bool(why)), said
    assert all(line.startswith("namespace team stays") and why in line for line in said), said
