"""The simulator answers as a real API server does: the same requests to both, and what differs is listed here."""

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from tests.kubernetes.simulator.raw_requests import ALL, CRDS, MAPS, WIDGET_CRD, WIDGETS, Json, Raw, config_map
from tests.kubernetes.support.own import Own
from tests.support.kubesim import served

# Group and request → why the simulator may answer something else.
_NO_SCHEMA = "there are no schemas: a wrong type is stored, and an unknown field too"
ALLOWED = {
    "applies: a conflict with who created": "conflicts are found between those who apply, not with those who update",
    "applies: another manager's force": "a manager who lost every field is still named",
    "applies: fields that are not applied any more go": "a manager who lost every field is still named",
    "applies: what is left": "a manager who lost every field is still named",
    "jobs: a job of which a number is a word": _NO_SCHEMA,
    "jobs: a strict job with a field nobody knows": _NO_SCHEMA,
}


def sent(raw: Raw, http: httpx.Client, namespace: str) -> httpx.Response:
    body = raw.body if isinstance(raw.body, bytes) or raw.body is None else json.dumps(raw.body)
    if isinstance(body, str):
        body = body.replace("{ns}", namespace)
    headers = {"Content-Type": raw.content} if body is not None else {}
    path = raw.path.replace("{ns}", namespace)
    return http.request(raw.method, path, content=body, headers={**headers, "User-Agent": "test"})


def said(answer: httpx.Response) -> dict[str, Any]:
    """What of an answer has to be the same: never its words."""
    try:
        body = answer.json()
    except ValueError:
        return {"status": answer.status_code, "text": answer.text}
    found: Json = {"status": answer.status_code, "kind": body.get("kind")}
    if body.get("kind") == "Status":
        return {**found, "reason": body.get("reason")}
    meta = body.get("metadata") or {}
    # A Job's labels are those of its pods, with its uid among them.
    if body.get("kind") == "Job":
        meta = {name: value for name, value in meta.items() if name != "labels"}
    kept = {name: meta.get(name) for name in ("generation", "finalizers", "labels", "deletionGracePeriodSeconds")}
    managers = sorted(
        (one["manager"], one["operation"], one.get("subresource", "")) for one in meta.get("managedFields", ())
    )
    return {**found, **kept, "leaving": "deletionTimestamp" in meta, "data": body.get("data") or None, "by": managers}


@pytest.mark.parametrize("group", ALL)
async def test_the_simulator_answers_as_a_real_server_does(own: Own, group: str) -> None:
    namespace = f"raw-{group}"
    async with served() as (inside, _):
        found = await asyncio.to_thread(differences, own.api("hub").http, inside.url, group, namespace)
    own.api("hub").delete(f"v1/namespaces/{namespace}")
    allowed = {name for name in ALLOWED if name.startswith(f"{group}: ")}
    lies = [f"{name}: {what}" for name, what in found.items() if name not in allowed]
    assert not lies, "\n".join(lies)
    assert allowed <= set(found), "these no longer differ: take them off the list"


def differences(real: httpx.Client, url: str, group: str, namespace: str) -> dict[str, str]:
    """By request: what both said, where it is not the same."""
    with httpx.Client(base_url=url, trust_env=False) as sim:
        for http in (real, sim):
            sent(Raw("", "POST", CRDS, WIDGET_CRD), http, namespace)
            sent(Raw("", "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}}), http, namespace)
            for _ in range(100):
                if sent(Raw("", "GET", WIDGETS), http, namespace).status_code == 200:
                    break
                time.sleep(0.1)
            sent(Raw("", "POST", MAPS, config_map("first")), http, namespace)
        both = [
            (f"{group}: {raw.said}", said(sent(raw, sim, namespace)), said(sent(raw, real, namespace)))
            for raw in ALL[group]
        ]
    return {
        name: ", ".join(
            f"{key} {one.get(key)!r}, really {other.get(key)!r}" for key in other if one.get(key) != other[key]
        )
        for name, one, other in both
        if one != other
    }
