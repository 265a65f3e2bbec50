"""A fleet whose processes come to NATS and Valkey with credentials of their own."""

import asyncio
import contextlib
import json
from pathlib import Path

import httpx
import pytest
import redis.asyncio as redis

from fairway.adapters.logins import LoginFile
from fairway.adapters.nats.bus import NatsBus
from fairway.lab.fleet.credentials import lets_in
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.runtime import private_files
from fairway.wire import subjects

SERVICES = ("inbound", "admission")


class Mistaken(EmbeddedFleet):
    """Its processes come to NATS as one service, and to Valkey as another."""

    def __init__(self, dir: Path, to_nats: str, to_valkey: str) -> None:
        super().__init__(dir, FleetPlan((), groups=(), stub_clusters=True))
        self.given = {"nats": to_nats, "valkey": to_valkey}

    def environment(self, process: str = "") -> dict[str, str]:
        said = super().environment(process)
        if process:
            folder = private_files.folder(self.dir / "mistaken")
            for server, user in self.given.items():
                private_files.write(folder / server, (self.credentials.folder / user / server).read_bytes())
            said["FAIRWAY_CREDENTIALS_DIR"] = str(folder)
        return said


MISTAKES = {
    "another's in NATS": ("queue", "quota", "NATS", "$js.api.consumer.info.jobs.quota"),
    "one in Valkey that reads": ("quota", "gateway", "Valkey", "gateway"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=list(MISTAKES))
async def test_what_a_process_may_not_do_ends_it_with_a_line_that_names_it(
    tmp_path: Path, mistake: tuple[str, str, str, str]
) -> None:
    to_nats, to_valkey, server, what = mistake
    fleet = Mistaken(tmp_path, to_nats, to_valkey)
    try:
        await fleet.start()
        with contextlib.suppress(RuntimeError):  # whether it is ready before it says the first word is nothing here
            await fleet.start_process(("quota",), patience_s=30)
        async with asyncio.timeout(30):
            while fleet.processes["quota"].ended is None:
                await asyncio.sleep(0.05)
        assert fleet.processes["quota"].ended != 0
        (said, *_) = told(tmp_path / "quota.log", "a right is missing")
        assert (said["level"], said["server"]) == ("critical", server)
        assert what in said["cause"] and "deploy/nats/services.conf" in said["remedy"]
    finally:
        await fleet.stop()


def told(log: Path, event: str) -> list[dict[str, str]]:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("event") == event]


async def test_a_new_password_is_used_while_the_process_goes_on(tmp_path: Path) -> None:
    fleet = EmbeddedFleet(tmp_path, FleetPlan((), groups=(SERVICES,), stub_clusters=True))
    try:
        await fleet.start()
        (name,) = fleet.processes
        process = fleet.processes[name]
        before = LoginFile(fleet.credentials.folder_of(name) / "nats").last
        await fleet.credentials.renew(name, (fleet.nats,), fleet.stores)
        after = LoginFile(fleet.credentials.folder_of(name) / "nats").last
        assert (before.user, before.password != after.password) == (after.user, True)
        async with asyncio.timeout(10):
            while await lets_in(fleet.nats, before):  # NATS reads its file soon
                await asyncio.sleep(0.05)
        async with asyncio.timeout(20):
            while len(told(tmp_path / f"{name}.log", "credential changed")) < 2:  # of NATS, and of Valkey
                await asyncio.sleep(0.05)
        async with redis.Redis.from_url(fleet.valkey.url) as admin:  # so that it has to come anew
            await admin.client_kill_filter(user=before.user)
        await _is_ready(process.said["http"])
        assert process.ended is None
        await _works(fleet)
    finally:
        await fleet.stop()


async def _is_ready(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(20):
        while (await client.get(f"{url}/readyz")).status_code != 200:
            await asyncio.sleep(0.05)


async def _works(fleet: EmbeddedFleet) -> None:
    """A message of a tenant is taken, which nobody can who is not connected to both."""
    bus = await NatsBus.connect(fleet.nats.url, "test")
    try:
        await bus.client.publish("fairway.in.team-a.submit", b"no request")
        async with asyncio.timeout(20):
            async for one in bus.history(subjects.DLQ, live=True):
                if one.subject:
                    break
    finally:
        await bus.close()
