"""The block for a tenant in deploy/nats/members.conf, on a real server: it speaks for itself, and hears only itself."""

import asyncio
from pathlib import Path

import pytest
from bus_users import connected, server

from fairway.adapters.nats_bus import NatsBus
from fairway.wire import subjects

OWN = ("fairway.in.team-a.submit", "fairway.in.team-a.cancel")
NOT_OWN = (
    "fairway.in.team-b.submit", "fairway.in.team-a.other", "fairway.job.submitted.team-a", "fairway.job.cancel.team-a",
    "fairway.config.Queue.x.y", "fairway.dlq.inbound", "$JS.API.STREAM.DELETE.IN", "$JS.API.STREAM.NAMES",
)  # fmt: skip


async def test_a_tenant_says_and_hears_its_own(tmp_path: Path) -> None:
    async with server(tmp_path) as where:
        services = await NatsBus.connect(f"nats://fairway:secret@{where}", "services")
        await services.provision()
        async with connected(where, "team-a") as (tenant, refused):
            for subject in OWN:
                twice = [tenant.jetstream().publish(subject, b"{}", headers={"Nats-Msg-Id": subject}) for _ in "12"]
                stored, again = await asyncio.gather(*twice)
                assert stored.stream == subjects.IN and not stored.duplicate and again.duplicate
            mine = await tenant.subscribe("fairway.job.*.team-a")
            await tenant.flush()
            await services.tell("fairway.job.rejected.team-a", b"why")
            assert (await mine.next_msg(5)).data == b"why"
            assert refused == []
        await services.close()


@pytest.mark.parametrize("subject", NOT_OWN)
async def test_a_tenant_says_nothing_else(tmp_path: Path, subject: str) -> None:
    async with server(tmp_path) as where, connected(where, "team-a") as (tenant, refused):
        await tenant.publish(subject, b"{}")
        await tenant.flush()
        await asyncio.sleep(0.1)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()


@pytest.mark.parametrize("subject", ["fairway.>", "fairway.job.*.team-b", "fairway.in.team-b.submit", "_INBOX.>"])
async def test_a_tenant_hears_nobody_else(tmp_path: Path, subject: str) -> None:
    async with server(tmp_path) as where, connected(where, "team-a") as (tenant, refused):
        await tenant.subscribe(subject)
        await tenant.flush()
        await asyncio.sleep(0.1)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()


async def test_an_acknowledgement_on_its_own_subject_is_no_message_and_nothing_goes_round(tmp_path: Path) -> None:
    async with server(tmp_path) as where:
        services = await NatsBus.connect(f"nats://fairway:secret@{where}", "services")
        await services.provision()
        async with connected(where, "team-a") as (tenant, _):
            for subject in OWN:
                await tenant.publish(subject, b"{}", reply=OWN[0])
            await tenant.flush()
            await asyncio.sleep(0.3)
        assert [one.subject async for one in services.history(subjects.IN)] == list(OWN)
        await services.close()
