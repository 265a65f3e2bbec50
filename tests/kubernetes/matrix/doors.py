"""How each operation of the matrix is asked at the hub and over HTTP, and what comes of it."""

import json
import time
from typing import Any, NamedTuple

import httpx

from fairway.workloads.hub.objects import of_hub
from tests.kubernetes.matrix.fleet import House, Json
from tests.kubernetes.support.fleet import until
from tests.support.http_door import job

POLICIES = "policy.karmada.io/v1alpha1"
_LEAVES = [{"name": "all", "namespaces": ["team-a", "team-b"]}]
_TREE = {"root": {"name": "root", "children": _LEAVES}}
# By kind: its group and version, its plural, and what its spec says.
SETTINGS: dict[str, tuple[str, str, Json]] = {
    "PropagationPolicy": (POLICIES, "propagationpolicies", {}),
    "ClusterPropagationPolicy": (POLICIES, "clusterpropagationpolicies", {}),
    "ElasticQuotaTree": ("scheduling.sigs.k8s.io/v1beta1", "elasticquotatrees", _TREE),
    "Queue": ("scheduling.x-k8s.io/v1alpha1", "queues", {"queuePolicy": "Block"}),
    "PriorityClass": ("scheduling.k8s.io/v1", "priorityclasses", {}),
    "TenantProfile": ("fairway.io/v1alpha1", "tenantprofiles", {"namespaces": ["team-x"]}),
}
_MASTER = {"Impersonate-User": "admin", "Impersonate-Group": "system:masters"}
_EVENTS_S = 10
_NONE: dict[str, str] = {}
# At the hub: with what a caller shows at the other door.
DOORS_TOKEN = "with the token for HTTP"


class Cell(NamedTuple):
    """`mark` stands in everything that is asked here, and nowhere else. `place` is a namespace, or empty."""

    door: str
    what: str
    place: str
    role: str
    mark: str


class Ask(NamedTuple):
    """`named` is whom the request names itself: that its answer does, too, tells nobody anything."""

    method: str
    path: str
    body: Json | None = None
    query: dict[str, str] = _NONE
    headers: dict[str, str] = _NONE
    named: str = ""


def setting(kind: str, place: str, mark: str) -> Json:
    """One tree rules the fleet: whoever sets it after another says it anew."""
    api_version, _, spec = SETTINGS[kind]
    if kind.endswith("PropagationPolicy"):
        spec = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": mark}], "placement": {}}
    name = "tree" if (kind, place) == ("ElasticQuotaTree", "kube-system") else mark
    meta = {"name": name, "annotations": {"asked": mark}, **({"namespace": place} if place else {})}
    rest = {"value": 10} if kind == "PriorityClass" else {"spec": spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **rest}


def where(kind: str, place: str) -> str:
    api_version, plural, _ = SETTINGS[kind]
    return f"/apis/{api_version}/{f'namespaces/{place}/' if place else ''}{plural}"


def at_hub(what: str, place: str, mark: str) -> Ask:
    """As kubectl asks an API server."""
    jobs = f"/apis/batch/v1/namespaces/{place}/jobs"
    system = "/api/v1/namespaces/fairway-system"
    kept = kept_in(place)
    if what in SETTINGS:
        one = setting(what, place, mark)
        query = {"fieldManager": mark, "force": "true"}
        kind = {"Content-Type": "application/apply-patch+yaml"}
        return Ask("PATCH", f"{where(what, place)}/{one['metadata']['name']}", one, query, kind)
    forged = {"status": {"active": 7}}
    merge = {"Content-Type": "application/merge-patch+json"}
    return {
        "submit": Ask("POST", jobs, job(mark, namespace=place)),
        "dry run": Ask("POST", jobs, job(mark, namespace=place), {"dryRun": "All"}),
        "list": Ask("GET", jobs),
        "list everywhere": Ask("GET", "/apis/batch/v1/jobs"),
        "one": Ask("GET", f"{jobs}/{kept}", named=kept),
        "status": Ask("PATCH", f"{jobs}/{kept}/status", forged, headers=merge, named=kept),
        "events": Ask("GET", f"/api/v1/namespaces/{place}/events"),
        "cancel": Ask("DELETE", f"{jobs}/{mark}", query={"propagationPolicy": "Background"}),
        "bindings": Ask("GET", f"/apis/work.karmada.io/v1alpha2/namespaces/{place}/resourcebindings"),
        "queues": Ask("GET", where("Queue", "kube-queue")),
        "quota": Ask("GET", where("ElasticQuotaTree", "kube-system")),
        "clusters": Ask("GET", f"{system}/secrets"),
        "the fleet's key": Ask("GET", f"{system}/secrets/fairway-fleet-key"),
        "Fairway's token": Ask("POST", f"{system}/serviceaccounts/fairway/token", {"spec": {}}),
        "the door's address": Ask("GET", f"{system}/configmaps/fairway"),
        DOORS_TOKEN: Ask("GET", f"{system}/configmaps/fairway"),
        "as the admin": Ask("GET", f"{system}/secrets", headers=_MASTER),
    }[what]


def at_http(what: str, place: str, mark: str, ids: dict[str, str]) -> Ask:
    """`ids` are of jobs, by their names. Without a place it is a job that there is not."""
    one = ids.get(kept_in(place), "kept-x-aaaaaaaaaa")
    sent = {"manifest": job(mark, namespace=place), "client": mark}
    if what in SETTINGS:
        return Ask("POST", "/v1/settings", setting(what, place, mark))
    return {
        "submit": Ask("POST", "/v1/jobs", sent),
        "batch": Ask("POST", "/v1/jobs:batch", {"jobs": [sent]}),
        "dry run": Ask("POST", "/v1/jobs", sent, {"dryRun": "true"}),
        "list": Ask("GET", "/v1/jobs", query={"namespace": place, "limit": "500"}),
        "list everywhere": Ask("GET", "/v1/jobs", query={"limit": "500"}),
        "one": Ask("GET", f"/v1/jobs/{one}", named=one),
        "why": Ask("GET", f"/v1/jobs/{one}/why", named=one),
        "story": Ask("GET", f"/v1/jobs/{one}/story", named=one),
        "events": Ask("GET", "/v1/events", query={"namespace": place}, headers={"Last-Event-ID": "1"}),
        "cancel": Ask("DELETE", f"/v1/jobs/{ids.get(mark, one)}"),
        "queues": Ask("GET", "/v1/queues"),
        "quota": Ask("GET", "/v1/quota"),
        "clusters": Ask("GET", "/v1/clusters"),
        "the document": Ask("GET", "/openapi.json"),
        "the metrics": Ask("GET", "/metrics"),
        "as the admin": Ask("GET", "/v1/clusters", headers={**_MASTER, "X-Remote-User": "admin"}),
    }[what]


def kept_in(place: str) -> str:
    """The job of a tenant that stays for all to ask after."""
    return f"kept-{place[-1:] or 'x'}"


def _cancelled(cells: list[Cell], *doors: str) -> list[Cell]:
    return [one for one in cells if one.door in doors and one.what.startswith("cancel")]


def prepared(house: House, cells: list[Cell]) -> dict[str, str]:
    """A job of each tenant that stays, and one for each cell that would cancel one; their ids by name."""
    everybody = setting("ClusterPropagationPolicy", "", "everybody")
    everybody["spec"] = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}], "placement": {}}
    house.hub.create(where("ClusterPropagationPolicy", ""), everybody)
    for place in ("team-a", "team-b"):
        house.hub.create(f"batch/v1/namespaces/{place}/jobs", job(kept_in(place), namespace=place))
        _queued(house, {kept_in(place)})  # so that the other comes behind it
        for path in (f"v1/namespaces/{place}/events", f"work.karmada.io/v1alpha2/namespaces/{place}/resourcebindings"):
            until(lambda path=path: house.hub.items(path), f"there is something to see of it: {path}")
    for one in _cancelled(cells, "hub"):
        house.hub.create(f"batch/v1/namespaces/{one.place}/jobs", job(one.mark, namespace=one.place))
    others = _cancelled(cells, "http", "bus")
    jobs = [{"manifest": job(one.mark, namespace=one.place), "client": one.mark} for one in others]
    sent = house.door.post("/v1/jobs:batch", json={"jobs": jobs}, headers=house.known)
    assert {one["status"] for one in sent.json()["items"]} == {202}, sent.text
    return _queued(house, {one.mark for one in _cancelled(cells, "hub", "http", "bus")})


def _queued(house: House, names: set[str]) -> dict[str, str]:
    def look() -> dict[str, str]:
        query = {"limit": "500", "state": "queued"}
        listed = house.door.get("/v1/jobs", params=query, headers=house.known).json()["items"]
        found = {one["name"]: one["id"] for one in listed}
        return found if names <= set(found) else {}

    return until(look, "the jobs are queued")


def ask(house: House, cell: Cell, ids: dict[str, str]) -> str:
    """`ok`, or the status; and behind a colon the tenants whose jobs the answer names."""
    hub = cell.door == "hub"
    one = at_hub(*cell[1:3], cell.mark) if hub else at_http(*cell[1:3], cell.mark, ids)
    token = house.tokens[cell.door if cell.what != DOORS_TOKEN else "http"][cell.role]
    headers = {**one.headers, **({"Authorization": f"Bearer {token}"} if token else {})}
    client = house.api if hub else house.door
    content = None if one.body is None else json.dumps(one.body)
    headers = {"Content-Type": "application/json", **headers}
    how: dict[str, Any] = {"params": one.query, "headers": headers, "content": content}
    if one.path == "/v1/events":
        status, text = _streamed(client, one.path, how)
    else:
        answer = client.request(one.method, one.path, **how)
        status = answer.status_code
        text = answer.text
    if one.path == "/v1/jobs:batch" and status == 200:
        status = json.loads(text)["items"][0]["status"]
    shown = text.replace(one.named, "") if one.named and status >= 400 else text
    tenants = "".join(letter for letter in "ab" if f"kept-{letter}" in shown)
    return ("ok" if status < 300 else str(status)) + (f":{tenants}" if tenants else "")


def _streamed(client: httpx.Client, path: str, how: dict[str, Any]) -> tuple[int, str]:
    """The first of a stream of events, until a job is told of that stays."""
    text = ""
    end = time.monotonic() + _EVENTS_S
    with client.stream("GET", path, **how) as answer:
        if answer.status_code != 200:
            return answer.status_code, answer.read().decode()
        for line in answer.iter_lines():
            text += line
            if "kept-" in text or time.monotonic() > end:
                break
    return 200, text


def effect(house: House, cell: Cell, user: str) -> str:
    """`+`: it was said by this user; `*`: by them, and by the hub that was given it; `!`: it was heard, and refused;
    empty: nothing came of it."""
    verbs = {"cancel": "cancel", "status": "", **dict.fromkeys(SETTINGS, "configured")}
    verb = verbs.get(cell.what.partition(" as ")[0], "submitted")
    said = [(stream, subject.split(".")[2], message) for stream, subject, message in house.said(cell.mark)]
    if cell.what.startswith("say "):
        return "+" if said else ""
    if any(stream == "dlq" or kind == "rejected" or _complaint(message) for stream, kind, message in said):
        return "!"
    words = [message for _, _, message in said if verb and message.get("type") == verb]
    told = {(message.get("who", {}).get("user"), message.get("who", {}).get("via")) for message in words}
    if not told:
        return ""
    if told == {(user, cell.door)}:
        return "+"
    twice = {(user, cell.door), (of_hub(cell.place).user, "hub")}
    return "*" if told == twice else f"+ by {sorted(map(str, told))}"


def _complaint(message: Json) -> bool:
    return message.get("type") == "config_refused" and bool(message.get("reasons"))
