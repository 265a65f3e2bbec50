"""What an operator asks of a fleet at work: is the store what the record says, make it anew, what could not be read."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import msgspec
import redis

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running
from fairway.lab.traces.fleet import configured
from fairway.lab.traces.replay import ReplayPlan, replay
from fairway.lab.traces.trace import GPU, TraceJob, manifest, policy, quota_tree
from fairway.process.pipeline import STAGES
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor

CLUSTERS = equal_clusters(3, nodes=2, gpus=8)
TABLE = "{fairway}:t:"
# It plays a door.
DOOR = Actor("test", "test")


async def fairway(fleet: EmbeddedFleet, *words: str, given: str = "") -> tuple[int, str, str]:
    """How the command ended, and what it wrote."""
    environment = {**os.environ, **fleet.environment(), "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairway.cli.main", *words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    )
    out, err = await process.communicate(given.encode())
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def asked(fleet: EmbeddedFleet, *words: str) -> Any:
    code, out, err = await fairway(fleet, *words, "-o", "json")
    assert code in (0, 1), err
    return json.loads(out)


def load(count: int, seconds: float) -> list[TraceJob]:
    """One after the other, of one to eight GPUs; more than there is room for at once."""
    return [
        TraceJob(f"job-{number}", f"team-{number % 3}", number * seconds / count, 1.5, 1, {GPU: str(2 ** (number % 4))})
        for number in range(count)
    ]


async def test_the_store_is_what_the_record_says_while_jobs_come_and_after_it_was_made_anew(tmp_path: Path) -> None:
    found: list[Any] = []

    async def beside(fleet: EmbeddedFleet) -> None:
        found.append(await asked(fleet, "audit", "verify"))
        found.append(await asked(fleet, "rebuild", "--yes"))
        found.append(await asked(fleet, "audit", "verify"))

    jobs = load(100, seconds=12)
    plan = ReplayPlan(name="operators", dir=tmp_path, clusters=CLUSTERS, speedup=1, patience_s=45)
    report = await replay(plan, jobs, while_running=beside)
    before, made, after = found
    for audit in (before, after):
        assert (audit["drift"], audit["unsettled"], audit["breaches"]) == ([], [], [])
        assert audit["ok"] and audit["states"][0] == audit["states"][1] and audit["keys"] >= 2 * audit["jobs"] > 0
    assert (sorted(made["clusters"]), made["silent"]) == ([one.name for one in CLUSTERS], [])
    assert made["jobs"] >= before["jobs"] > 0
    assert report.findings.violations == ()
    assert report.figures.jobs["succeeded"] == len(jobs)


async def submitted(bus: NatsBus, name: str, seconds: float) -> None:
    raw = msgspec.Raw(msgspec.json.encode(manifest(TraceJob(name, "team-0", 0, seconds, 1, {GPU: "8"}), 3_600_000)))
    message = wire.Submitted(tenant="team-0", manifest=raw, client=name, source="test", who=DOOR)
    subject = subjects.job(message.verb, "team-0")
    await bus.publish([Outgoing(name, subject, msgspec.json.encode(message), "fairway.job.submitted")])


async def said(bus: NatsBus, verb: str, count: int) -> list[str]:
    """The first `count` jobs that this is said of."""
    found: list[str] = []
    async with asyncio.timeout(60):
        async for one in bus.history(subjects.JOBS, [f"fairway.job.{verb}.>"], live=True):
            found += [msgspec.json.decode(one.data, type=wire.Message).job] if one.subject else []
            if len(found) == count:
                break
    return found


def tamper(url: str, first: str, second: str) -> None:
    """As no service would: a row goes back, one is gone, one is of nobody, and a charge is forgotten."""
    with redis.Redis.from_url(url) as client:
        rev, _, body = client.hget(f"{TABLE}jobs", first).partition(b"|")  # type: ignore[union-attr]  # of this client
        row = {**json.loads(body), "cluster": "elsewhere"}
        client.hset(f"{TABLE}jobs", first, b"%d|%b" % (int(rev) - 1, json.dumps(row, separators=(",", ":")).encode()))
        client.hdel(f"{TABLE}live", second)
        client.hset(f"{TABLE}ledger/c0", "nobody/1", b'1|{"slots":[],"requests":{}}')
        client.hincrby(f"{TABLE}quota", f"root|{GPU}", -8)


async def test_drift_is_told_key_by_key_and_gone_when_the_store_is_made_anew(tmp_path: Path) -> None:
    async with running(tmp_path, FleetPlan(CLUSTERS, groups=())) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "test")
        await bus.provision()
        await bus.publish([configured(one) for one in (policy("team-0"), quota_tree(["team-0"], 48, {}))])
        await fleet.start_process(("agent", *STAGES))
        for name in ("a", "b"):
            await submitted(bus, name, 3_600)
        first, second = await said(bus, "running", 2)
        assert (await fairway(fleet, "audit", "verify"))[0] == 0

        tamper(fleet.valkey.url, first, second)
        audit = await asked(fleet, "audit", "verify")
        drift = {(one["table"], one["key"]): one for one in audit["drift"]}
        assert {("jobs", first), ("live", second), ("ledger/c0", "nobody/1")} < {*drift} and not audit["ok"]
        row = drift["jobs", first]
        assert row["store"] == row["record"] - 1 and row["fields"]["cluster"][1] == "elsewhere"
        assert (drift["live", second]["store"], drift["ledger/c0", "nobody/1"]["record"]) == (None, None)
        assert [one for one in drift if one[0] == "quota"]

        code, out, err = await fairway(fleet, "rebuild", given="n\n")
        assert code == 1 and "Until then nothing is decided" in err and not out.strip()
        made = await asked(fleet, "rebuild", "--yes")
        assert (made["jobs"], made["live"], made["held"], made["silent"]) == (2, 2, 2, [])
        audit = await asked(fleet, "audit", "verify")
        assert audit["ok"] and not audit["drift"]
        await bus.close()


async def test_dead_letters_that_wait_are_told_by_the_gateway(tmp_path: Path) -> None:
    plan = FleetPlan(CLUSTERS, stub_clusters=True, groups=(("gateway",),))
    async with running(tmp_path, plan) as fleet, httpx.AsyncClient() as client:
        metrics = f"{fleet.processes['gateway'].said['metrics']}/metrics"
        bus = await NatsBus.connect(fleet.nats.url, "letters")
        garbage = Outgoing("garbage", subjects.dead_letter("gateway"), b"no letter")
        await bus.publish([garbage])
        await bus.close()
        (letter,) = (await asked(fleet, "dlq", "list"))["items"]
        assert (letter["why"]["code"], letter["size"]) == ("Undecodable", 9)
        scraped = (await client.get(metrics)).text
        assert 'fairway_dead_letters_waiting{service="gateway"} 1.0' in scraped
        assert (await fairway(fleet, "dlq", "drop", "--all"))[0] == 0
        assert "fairway_dead_letters_waiting{" not in (await client.get(metrics)).text


async def test_without_a_service_the_store_stays_empty_and_the_command_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, FleetPlan(CLUSTERS, stub_clusters=True, groups=())) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "test")
        await bus.provision()
        code, _, err = await fairway(fleet, "rebuild", "--yes", "--timeout", "1")
        assert code == 5 and "no service has rebuilt the store within 1 s" in err
        code, _, err = await fairway(fleet, "audit", "verify")
        assert code == 1 and "the store is empty, or is being rebuilt" in err
        await bus.close()
