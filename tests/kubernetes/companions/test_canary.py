"""A canary in a Secret: after its life with a job it is in the two clusters that had it, and nowhere else."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import nats
import redis
from nats.js.api import ConsumerConfig, DeliverPolicy

from fairway.lab.canary import Canary
from tests.kubernetes.hub.objects import Applied, fairway, sent_to
from tests.kubernetes.support.fleet import RealFleet, in_namespace, namespace, until
from tests.kubernetes.support.tries import job

Json = dict[str, Any]
MEMBER = "north"


async def _streams(url: str) -> dict[str, list[bytes]]:
    """Every message of every stream, with its headers."""
    client = await nats.connect(url)
    try:
        stream_of = client.jetstream()
        found: dict[str, list[bytes]] = {}
        for info in await stream_of.streams_info():
            name = str(info.config.name)
            found[name] = []
            if not info.state.messages:
                continue
            config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
            told = await stream_of.subscribe(">", stream=name, ordered_consumer=True, config=config)
            while True:
                message = await told.next_msg(timeout=20)
                found[name].append(repr(message.headers).encode() + message.data)
                if message.metadata.num_pending == 0:
                    break
            await told.unsubscribe()
        return found
    finally:
        await client.close()


def streams(fleet: RealFleet) -> Iterator[tuple[str, bytes]]:
    for name, messages in asyncio.run(_streams(fleet.facts["nats"])).items():
        yield from ((f"stream {name}", data) for data in messages)


def store(fleet: RealFleet) -> Iterator[tuple[str, bytes]]:
    client = redis.Redis.from_url(fleet.facts["valkey"])
    read: dict[bytes, Callable[[bytes], Any]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"list": lambda key: client.lrange(key, 0, -1),
        b"stream": client.xrange,
    }
    try:
        for key in client.scan_iter(count=1000):
            kind = client.type(key)
            if kind != b"none":  # gone meanwhile
                yield f"key {key!r}", key + repr(read[kind](key)).encode()
    finally:
        client.close()


def files(fleet: RealFleet) -> Iterator[tuple[str, bytes]]:
    """Logs, and what NATS and Valkey keep, but not the clusters' own stores."""
    for path in sorted(fleet.dir.parent.rglob("*")):
        if path.is_file() and not _of_a_cluster(path):
            yield f"file {path.relative_to(fleet.dir.parent)}", path.read_bytes()


def _of_a_cluster(path: Path) -> bool:
    return any(part.startswith("etcd") for part in path.parts)


def answers(fleet: RealFleet, one: Applied) -> Iterator[tuple[str, bytes]]:
    """What is said of this job by HTTP, each time with its id, and by the command."""
    name = one.row()["id"]
    job = f"/v1/jobs/{name}"
    for path in (f"/v1/jobs?namespace={one.namespace}", job, f"{job}/why", f"{job}/story"):
        answer = fetched(fleet, f"{fleet.url}{path}")
        assert name in answer.text, f"{path}: {answer.text}"
        yield f"answer {path}", answer.content
    for words in (("story", name), ("why", name), ("get", "jobs", "-n", one.namespace)):
        yield f"fairway {' '.join(words)}", fairway(fleet, *words).encode()


def of_all_jobs(fleet: RealFleet) -> Iterator[tuple[str, bytes]]:
    """What is said of no job in particular, and the metrics of each process."""
    for path in ("/v1/clusters", "/v1/queues", "/v1/quota"):
        yield f"answer {path}", fetched(fleet, f"{fleet.url}{path}").content
    for name, url in fleet.facts["metrics"].items():
        if url:
            page = fetched(fleet, f"{url}/metrics")
            assert "# HELP fairway_" in page.text, f"{name}: {page.text}"
            yield f"metrics of {name}", page.content


def fetched(fleet: RealFleet, url: str) -> httpx.Response:
    """An answer, and no refusal: all workers are one caller, and one who asks too much waits."""
    while True:
        answer = httpx.get(url, headers=fleet.known, trust_env=False)
        if answer.status_code != 429:
            assert answer.is_success, f"{url}: {answer.status_code} {answer.text}"
            return answer
        time.sleep(float(answer.headers["Retry-After"]))


def told(fleet: RealFleet, *ones: Applied) -> Iterator[tuple[str, bytes]]:
    yield from streams(fleet)
    yield from store(fleet)
    yield from files(fleet)
    yield from of_all_jobs(fleet)
    for one in ones:
        yield from answers(fleet, one)
        for what in (one.events(), one.on_hub, one.binding):
            yield "the hub's object, its binding and Events", repr(what).encode()


def with_secret(tenant: str, name: str, secret: str) -> Json:
    what = job("Job", tenant, name, run_for="1s")
    (main,) = what["spec"]["template"]["spec"]["containers"]
    main["envFrom"] = [{"secretRef": {"name": secret}}]
    return what


def test_a_canary_in_a_secret_is_found_nowhere_but_in_the_two_clusters(fleet: RealFleet, tenant: str) -> None:
    canary = Canary(f"canary-{secrets.token_hex(12)}")
    fleet.members[MEMBER].create("v1/namespaces", namespace(tenant))
    meta = {"namespace": tenant}
    body = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": canary.text}}
    # As kubectl applies them: an annotation says all of it once more.
    fleet.hub.apply({**body, "metadata": {"name": "db", **meta}}, {**body, "metadata": {"name": "refused", **meta}})
    # This one no API server takes, and says what is wrong with it.
    policy = _refusing(tenant)
    for path, made in policy:
        fleet.members[MEMBER].create(path, made)
    try:
        one = sent_to(fleet, with_secret(tenant, "sent", "db"), MEMBER)
        until(one.ended_well, "it has run", 90)
        there = fleet.members[MEMBER].get(in_namespace("v1/secrets", tenant, "db")) or {}
        assert canary.is_in(repr(there["data"]).encode()), "it was sent"
        other = _refused(fleet, tenant)
        found = list(told(fleet, one, other))
    finally:
        for path, made in policy:
            fleet.members[MEMBER].delete(f"{path}/{made['metadata']['name']}")
    assert [where for where, data in found if canary.is_in(data)] == []
    # The search finds what is there to be found.
    seen = {where.split(" ")[0] for where, data in found if one.row()["id"].encode() in data}
    assert {"stream", "key", "file", "answer", "fairway"} <= seen
    assert "metrics" in {where.split(" ")[0] for where, _ in found}
    kept = fleet.hub.get(in_namespace("v1/secrets", tenant, "db")) or {}
    assert canary.is_in(repr(kept["metadata"]["annotations"]).encode())


def test_a_canary_in_a_manifest_is_in_the_record_and_is_shown_as_the_manifest_alone(
    fleet: RealFleet, tenant: str
) -> None:
    canary = Canary(f"canary-{secrets.token_hex(12)}")
    what = job("Job", tenant, "plain", run_for="1s")
    (main,) = what["spec"]["template"]["spec"]["containers"]
    main["env"] = [{"name": "WORD", "value": canary.text}]
    one = sent_to(fleet, what, MEMBER)
    until(one.ended_well, "it has run", 90)
    places = {where for where, data in told(fleet, one) if canary.is_in(data)}
    hub = {"the hub's object, its binding and Events"}
    # The bus keeps the record in files.
    others = {where for where in places - hub if "/nats/jetstream/" not in where}
    assert others <= {"stream JOBS", "stream VIEWS"} and "stream JOBS" in others
    shown = fetched(fleet, f"{fleet.url}/v1/jobs/{one.row()['id']}/manifest")
    assert canary.is_in(shown.content)
    deeds = fairway(fleet, "audit", "who", "--since", "30m", "-o", "json")
    assert not canary.is_in(deeds.encode())
    assert any(
        (deed["does"], deed["what"], deed.get("name")) == ("get", "jobs.batch", "plain")
        for deed in json.loads(deeds)["items"]
    )


def _refused(fleet: RealFleet, tenant: str) -> Applied:
    """Its Secret is refused in words that hold all of it."""

    def look() -> Applied | None:
        return one if "lost" in one.verbs() else None

    one = sent_to(fleet, with_secret(tenant, "refused", "refused"), MEMBER, attempts=1)
    return until(look, "its attempt ended") or one


def _refusing(tenant: str) -> list[tuple[str, Json]]:
    """A policy of the member, and its binding, that refuses a Secret with its own content as the reason."""
    said = "'it holds ' + object.data['password']"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}
            ]
        },
        "validations": [
            {
                "expression": f"object.metadata.namespace != '{tenant}' || object.metadata.name != 'refused'",
                "messageExpression": said,
                "reason": "Invalid",
            }
        ],
    }
    meta = {"name": f"canary-{tenant}"}
    binding = {"policyName": meta["name"], "validationActions": ["Deny"]}
    group = "admissionregistration.k8s.io/v1"
    return [
        (f"{group}/validatingadmissionpolicies", {"metadata": meta, "spec": spec}),
        (f"{group}/validatingadmissionpolicybindings", {"metadata": meta, "spec": binding}),
    ]
