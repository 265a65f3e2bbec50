"""`fairway audit who` on a real NATS: what a user did and was refused, out of all that keeps it."""

import asyncio
import getpass
import json
from functools import partial
from typing import Any

import msgspec
import nats.js.errors
import pytest

from fairway.client.failure import NOT_FOUND, UNREACHABLE, USAGE
from fairway.operate.audit.since import since_of
from fairway.runtime.ports import Outgoing
from fairway.runtime.record.audited import audited
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor, JobMessage
from fairway.wire.fleet import Audited, DeadLetter
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import RemovedManifest
from tests.support.commands import command
from tests.support.dead_letters import Bench

ANN = Actor("ann", "http", "r-1", ("devs",))
BEN = Actor("ben", "http", "r-2")
MANIFEST = msgspec.Raw(b'{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","namespace":"t"}}')
DAY = 86_400_000


async def who(bench: Bench, *words: str) -> Any:
    ask = partial(command, "audit", "who", *words, "-o", "json", FAIRWAY_NATS_URL=bench.url)
    return json.loads((await asyncio.to_thread(ask)).stdout)["items"]


async def table(bench: Bench, *words: str) -> str:
    return (await asyncio.to_thread(partial(command, "audit", "who", *words, FAIRWAY_NATS_URL=bench.url))).output


async def say(bench: Bench, name: str, message: JobMessage) -> None:
    subject = subjects.job(message.verb, message.tenant)
    await bench.bus.publish([Outgoing(name, subject, msgspec.json.encode(message))])


async def filled(bench: Bench, now: int) -> None:
    """What ann and ben did, some of it long ago."""
    manifested = {"tenant": "t", "manifest": MANIFEST}
    await say(bench, "a", wire.Submitted(job="train-1", at=now - 30_000, who=ANN, **manifested))
    await say(bench, "b", wire.Submitted(job="train-2", at=now - 29_000, who=BEN, **manifested))
    why = (Reason(Code.UNSAFE_POD, "is not for tenants", "spec.hostNetwork"),)
    await say(bench, "c", wire.Rejected(job="train-1", tenant="t", at=now - 28_000, reasons=why, rev=1))
    await say(bench, "d", wire.Cancel(job="train-2", tenant="t", at=now - 27_000, who=ANN))
    await say(bench, "e", wire.HoldJob(job="train-2", tenant="t", at=now - 26_000, held=True, who=ANN))
    await say(bench, "f", wire.Cancel(job="train-0", tenant="t", at=now - 3 * DAY, who=ANN))
    letter = DeadLetter(at=now - 25_000, service="inbound", subject="fairway.in.t.cancel", why=why[0], who=ANN)
    await bench.bus.publish([Outgoing("g", subjects.dead_letter("inbound"), msgspec.json.encode(letter))])
    for at, deed in enumerate(
        (
            Audited(at=now - 24_000, who=ANN, does="get", resource="jobs.batch", namespace="t", name="train"),
            Audited(at=now - 23_000, who=BEN, does="patch", resource="queues.scheduling.x-k8s.io", name="gold"),
            Audited(at=now - 22_000, who=ANN, does="create", resource="jobs.batch", allowed=False, times=70),
        )
    ):
        one = audited("gateway", deed)
        await bench.bus.publish([Outgoing(f"{one.id}{at}", one.subject, msgspec.json.encode(one.message))])


async def test_it_tells_writes_refusals_and_reads_of_a_user_in_the_order_of_time(bench: Bench) -> None:
    await filled(bench, 1_700_000_000_000)
    deeds = await who(bench, "--user", "ann", "--since", "2023-11-13")
    found = [(one["does"], one["what"], one.get("allowed", True), one.get("times", 1)) for one in deeds]
    assert found == [
        ("create", "Job", True, 1),
        ("create", "Job", False, 1),
        ("delete", "job", True, 1),
        ("suspend", "job", True, 1),
        ("say", "fairway.in.t.cancel", False, 1),
        ("get", "jobs.batch", True, 1),
        ("create", "jobs.batch", False, 70),
    ]
    assert {one["who"]["user"] for one in deeds} == {"ann"}
    assert deeds[1]["why"][0]["code"] == "UnsafePod" and deeds[1]["job"] == "train-1"
    refused = await who(bench, "--user", "ann", "--since", "2023-11-13", "--refused")
    assert [one["what"] for one in refused] == ["Job", "fairway.in.t.cancel", "jobs.batch"]
    everybody = await who(bench, "--since", "2023-11-13")
    assert {one["who"]["user"] for one in everybody if one["at"] < 1_700_000_000_001} == {"ann", "ben"}
    assert await who(bench, "--user", "ann", "--since", "2023-11-16") == []


async def test_who_submitted_what_was_removed_from_the_record_is_told_all_the_same(bench: Bench) -> None:
    at = 1_700_000_000_000
    why = (Reason(Code.UNSAFE_POD, "is not for tenants", "spec.hostNetwork"),)
    await say(bench, "r", wire.Rejected(job="train-9", tenant="t", at=at + 1, reasons=why, rev=1))
    gone = RemovedManifest(sequence=1, id="s", said="submitted", sha256="0" * 64, size=9, at=at, who=ANN)
    changed = RemovedManifest(sequence=3, id="v", said="revise", sha256="1" * 64, size=9, at=at + 2, who=BEN)
    removed = (gone, changed)
    await say(bench, "m", wire.ManifestsRemoved(job="train-9", tenant="t", at=at + DAY, kept=DAY, removed=removed))
    deeds = [one for one in await who(bench, "--since", "2023-11-13") if one.get("job") == "train-9"]
    assert [(one["who"]["user"], one["does"], one.get("allowed", True)) for one in deeds] == [
        ("ann", "create", True),
        ("ann", "create", False),
        ("ben", "update", True),
    ]


async def test_a_person_reads_it_as_a_table_and_a_name_moves_no_cursor(bench: Bench) -> None:
    await filled(bench, 1_700_000_000_000)
    await say(bench, "x", wire.Cancel(job="\x1b[2J", tenant="t", at=1_700_000_000_000, who=Actor("ann", "http")))
    shown = await table(bench, "--user", "ann", "--since", "2023-11-13")
    assert "\x1b" not in shown
    assert "refused: UnsafePod: is not for tenants" in shown and "refused (70 times)" in shown
    assert "2023-11-14 22:12:50Z  ann  http  create   Job" in shown
    assert await table(bench, "--user", "nobody") == "nothing is kept of that\n"


async def test_whoever_is_shown_a_letter_or_drops_it_with_the_operators_credential_is_told_of(bench: Bench) -> None:
    (number,) = await bench.buried("ann")
    before = len(await who(bench, "--user", getpass.getuser(), "--since", "1m"))
    await bench.run("list")
    await bench.run("show", str(number))
    assert (await bench.run("show", str(number + 1_000))).exit_code == NOT_FOUND  # of which nobody is shown anything
    await bench.run("drop", str(number))
    deeds = (await who(bench, "--user", getpass.getuser(), "--since", "1m"))[before:]
    assert [(one["who"]["via"], one["does"], one["what"], one["name"]) for one in deeds] == [
        ("operator", "get", "deadletters.fairway.io", str(number)),
        ("operator", "delete", "deadletters.fairway.io", str(number)),
    ]


async def test_without_the_audit_nothing_is_shown(bench: Bench) -> None:
    (number,) = await bench.buried("ann")
    js = bench.bus.client.jetstream()
    await js.delete_stream(subjects.AUDIT)
    try:
        shown = await bench.run("show", str(number))
    finally:
        await bench.bus.provision()
    assert shown.exit_code == UNREACHABLE and "could not be written into the audit" in shown.output
    assert '"user"' not in shown.stdout


async def test_nobody_deletes_what_is_kept(bench: Bench) -> None:
    """Not even who may do everything: the server refuses it."""
    one = audited("gateway", Audited(at=1, who=ANN, does="get", resource="jobs.batch"))
    await bench.bus.publish([Outgoing(one.id, one.subject, msgspec.json.encode(one.message))])
    js = bench.bus.client.jetstream()
    last = (await js.stream_info(subjects.AUDIT)).state.last_seq
    with pytest.raises(nats.js.errors.APIError, match="message delete not permitted"):
        await js.delete_msg(subjects.AUDIT, last)
    with pytest.raises(nats.js.errors.APIError, match="not permitted"):
        await js.purge_stream(subjects.AUDIT)


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ("30m", 99_998_200_000),
        ("12h", 99_956_800_000),
        ("7d", 99_395_200_000),
        ("1970-01-02T00:00", DAY),
        ("999999d", 0),
    ],
)
def test_how_far_back(given: str, at: int) -> None:
    assert since_of(given, 100_000_000_000) == at


@pytest.mark.parametrize("given", ["", "7", "7w", "-1d", "٧d", "yesterday"])
def test_what_is_no_time_is_refused_with_what_to_write(given: str) -> None:
    done = command("audit", "who", "--since", given, FAIRWAY_NATS_URL="nats://127.0.0.1:1")
    assert done.exit_code == USAGE
    assert "write it as 30m, 12h, 7d" in done.output
