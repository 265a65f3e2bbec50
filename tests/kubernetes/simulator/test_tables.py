"""What `kubectl get` prints of custom resources: the simulator's tables and a real API server's are the same, byte for
byte, and both find the policies of the same group."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubereal.build import tools
from fairway.lab.kubesim import KubeSim
from fairway.workloads.settings.policies import GROUPS
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.own_hub import CRDS

Json = dict[str, Any]
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
GADGETS = "/apis/example.org/v1/namespaces/default/gadgets"
COLUMNS = [
    ("Size", "integer", ".spec.size", 0),
    ("Share", "number", ".spec.share", 0),
    ("On", "boolean", ".spec.on", 0),
    ("Kind", "string", ".spec.kind", 0),
    ("Names", "string", ".spec.names", 0),
    ("First", "string", ".spec.names[0]", 0),
    ("Last", "string", ".spec.names[-1:]", 0),
    ("Each", "string", ".spec.parts[*].name", 0),
    ("Where", "string", ".spec.where", 0),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', 0),
    ("Note", "string", r".metadata.annotations.example\.org/note", 0),
    ("Since", "date", ".spec.since", 0),
    ("Long", "date", ".spec.long", 1),
    ("Count", "string", ".spec.size", 1),
    ("Text", "string", ".spec.on", 1),
    ("Age", "date", ".metadata.creationTimestamp", 0),
]
GADGET_CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "additionalPrinterColumns": [
                    {"name": name, "type": type, "jsonPath": path, **({"priority": wide} if wide else {})}
                    for name, type, path, wide in COLUMNS
                ],
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
PLAIN_CRD = json.loads(json.dumps(GADGET_CRD).replace("gadget", "trinket").replace("Gadget", "Trinket"))
del PLAIN_CRD["spec"]["versions"][0]["additionalPrinterColumns"]


def gadget(name: str, note: str = "", status: Json | None = None, **spec: Any) -> Json:
    notes = {"annotations": {"example.org/note": note}} if note else {}
    made = {"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": name, **notes}, "spec": spec}
    return {**made, **({"status": status} if status else {})}


OBJECTS = [
    gadget("empty"),
    gadget(
        "full",
        note="in words",
        status={"conditions": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}]},
        size=7,
        share=0.5,
        on=True,
        kind="round",
        names=["a", "b", "c"],
        parts=[{"name": "p"}, {"name": "q"}],
        where={"b": 1, "a": {"x": [1, "<&>"]}},
        since="2019-03-01T00:00:00Z",
        long="2001-01-01T00:00:00Z",
    ),
    gadget("wrong", size="seven", share="half", on="yes", kind=5, names=[], parts=[], where=[], since="soon", long=7),
    gadget(
        "other", size=7.9, share=2, on=False, kind=None, names="a", parts=[{}], where=1.5, status={"conditions": []}
    ),
    gadget("large", size=2**40, share=1e21, kind=1000000.0, where=0.00001, names=[None, True, 1.5], since=""),
    gadget("future", since="2999-01-01T00:00:00Z", long="1801-01-01T00:00:00Z"),
    gadget("numbers", kind=12345678.5, where=0.0001, names=[1e-7, 3.0]),
    gadget("zones", since="2019-03-01T02:00:00+02:00", long="2019-03-01"),
]


NAMED = dict(zip(("karmadas", "acks"), GROUPS, strict=True))


class Both:
    """The simulator and a real API server with the same definitions, asked for the same."""

    def __init__(self, real: Api, url: str) -> None:
        self.real = real
        self.sim = httpx.Client(base_url=url, trust_env=False)
        self.servers = (("--kubeconfig=/dev/null", f"--server={url}"), (f"--kubeconfig={real.kubeconfig}",))

    def do(self, method: str, path: str, body: Json | None = None) -> None:
        for http in (self.sim, self.real.http):
            answer = http.request(method, path, json=body)
            assert answer.is_success, answer.text

    def tables(self, path: str) -> tuple[Json, Json]:
        return tuple(http.get(path, headers=TABLE).json() for http in (self.sim, self.real.http))  # type: ignore[return-value]  # of both

    def groups(self, accept: str) -> list[list[tuple[str, frozenset[str]]]]:
        """Each server's groups with their versions, in its order."""
        answers = (http.get("/apis", headers={"Accept": accept}).json() for http in (self.sim, self.real.http))
        return [[_named(one) for one in _listed(answer)] for answer in answers]

    def kubectl(self, *args: str) -> list[str]:
        """What kubectl prints of each; an age in seconds is of the test."""
        said = []
        for config in self.servers:
            command = [str(tools().program("kubectl")), *config, *args]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            said.append(re.sub(r"\b\d+s( *)$", r"AGE\1", done.stdout + done.stderr, flags=re.MULTILINE))
        return said


@pytest_asyncio.fixture
async def both(settings_hub: Api) -> AsyncIterator[Both]:
    sim = KubeSim(SystemClock())
    await sim.start_cluster("hub", controllers=False)
    try:
        found = Both(settings_hub, sim.clusters["hub"].url)
        await asyncio.to_thread(_fill, found)
        yield found
        await asyncio.to_thread(_clear, found)
    finally:
        await sim.stop()


def _fill(both: Both) -> None:
    for crd in (GADGET_CRD, PLAIN_CRD):
        both.do("POST", f"/apis/{CRDS}", crd)
    plural = "gadgets"
    until(lambda: both.real.http.get(GADGETS).is_success, "the definition is served")
    until(lambda: both.real.http.get(GADGETS.replace(plural, "trinkets")).is_success, "the other one is served")
    for one in OBJECTS:
        both.do("POST", GADGETS, one)
    both.do("POST", GADGETS.replace(plural, "trinkets"), {**gadget("plain"), "kind": "Trinket"})


def _clear(both: Both) -> None:
    for crd in (GADGET_CRD, PLAIN_CRD):
        path = f"{CRDS}/{crd['metadata']['name']}"
        both.real.delete(path)
        until(lambda path=path: both.real.get(path) is None, "the definition is gone")
    both.sim.close()


def shown(table: Json) -> Json:
    """Columns and cells; a description is nothing that kubectl shows, and an age of seconds is of the test."""
    columns = [{key: value for key, value in one.items() if key != "description"} for one in table["columnDefinitions"]]
    rows = [
        [re.sub(r"^\d+s$", "AGE", cell) if isinstance(cell, str) else cell for cell in one["cells"]]
        for one in table["rows"]
    ]
    return {"columns": columns, "rows": rows}


@pytest.mark.parametrize("path", [GADGETS, f"{GADGETS}/full", GADGETS.replace("gadgets", "trinkets")])
async def test_the_table_of_a_custom_resource_is_that_of_a_real_server(both: Both, path: str) -> None:
    sim, real = await asyncio.to_thread(both.tables, path)
    assert shown(sim) == shown(real)
    assert json.dumps(shown(sim)) == json.dumps(shown(real))


@pytest.mark.parametrize("wide", [(), ("-o", "wide")], ids=["plain", "wide"])
async def test_kubectl_prints_the_same_of_both(both: Both, wide: tuple[str, ...]) -> None:
    sim, real = await asyncio.to_thread(both.kubectl, "get", "gadgets", *wide)
    assert sim.splitlines() == real.splitlines()
    assert "full" in real


def policy(group: str, name: str) -> Json:
    spec = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": name}], "placement": {}}
    return {"apiVersion": group, "kind": "PropagationPolicy", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize("asked", ["propagationpolicy", "propagationpolicies", "PropagationPolicy", "pp"])
async def test_kubectl_shows_the_policies_of_karmadas_group_where_both_are_served(both: Both, asked: str) -> None:
    """Of groups that serve a word kubectl takes the first in the order of discovery, where those of definitions stand
    by their names."""
    paths = {name: f"/apis/{group}/namespaces/default/propagationpolicies" for name, group in NAMED.items()}
    for name, group in NAMED.items():
        await asyncio.to_thread(both.do, "POST", paths[name], policy(group, name))
    try:
        for said in await asyncio.to_thread(both.kubectl, "get", asked, "-o", "name"):
            assert said == "propagationpolicy.policy.karmada.io/karmadas\n"
        other = "propagationpolicies.policy.one.alibabacloud.com"
        for said in await asyncio.to_thread(both.kubectl, "get", other, "-o", "name"):
            assert said == "propagationpolicy.policy.one.alibabacloud.com/acks\n"
        sim, real = await asyncio.to_thread(both.kubectl, "get", asked, "-o", "wide")
        assert sim == real
    finally:
        for name, path in paths.items():
            await asyncio.to_thread(both.do, "DELETE", f"{path}/{name}")


@pytest.mark.parametrize(
    "accept",
    ["application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"],
    ids=["plain", "aggregated"],
)
async def test_both_servers_tell_of_the_groups_in_the_same_order(both: Both, accept: str) -> None:
    """Of the groups that both serve in the same versions: the first version decides where a definition's group
    stands."""
    sim, real = await asyncio.to_thread(both.groups, accept)
    shared = [group for group in sim if group in real]
    assert shared == [group for group in real if group in sim]
    names = {name for name, _ in shared}
    assert {"policy.karmada.io", "policy.one.alibabacloud.com", "example.org", "batch"} <= names


def _listed(answer: Json) -> list[Json]:
    found: list[Json] = answer["groups"] if "groups" in answer else answer["items"]
    return found


def _named(group: Json) -> tuple[str, frozenset[str]]:
    name = group.get("name") or group["metadata"]["name"]
    return name, frozenset(one["version"] for one in group["versions"])
