"""The block for a tenant in deploy/nats/members.conf, on a real server: it speaks for itself, and hears only itself."""

import asyncio

import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.wire import subjects
from tests.support.bus_users import at, connected, settled, until_heard

OWN = ("fairway.in.team-a.submit", "fairway.in.team-a.cancel")
NOT_OWN = (
    "fairway.in.team-b.submit",
    "fairway.in.team-a.other",
    "fairway.job.submitted.team-a",
    "fairway.job.cancel.team-a",
    "fairway.config.Queue.x.y",
    "fairway.dlq.inbound",
    "$JS.API.STREAM.DELETE.IN",
    "$JS.API.STREAM.NAMES",
)


async def test_a_tenant_says_and_hears_its_own(where: str) -> None:
    services = await NatsBus.connect(at(where, "fairway"), "services")
    await services.provision()
    async with connected(where, "team-a") as (tenant, refused):
        for subject in OWN:
            twice = [tenant.jetstream().publish(subject, b"{}", headers={"Nats-Msg-Id": subject}) for _ in "12"]
            stored, again = await asyncio.gather(*twice)
            assert stored.stream == subjects.IN and not stored.duplicate and again.duplicate
        mine = await tenant.subscribe("fairway.job.*.team-a")
        await tenant.flush()
        heard = await until_heard(mine, lambda: services.tell("fairway.job.rejected.team-a", b"why"))
        assert heard.data == b"why"
        assert refused == []
    await services.close()


@pytest.mark.parametrize("subject", NOT_OWN)
async def test_a_tenant_says_nothing_else(where: str, subject: str) -> None:
    async with connected(where, "team-a") as (tenant, refused):
        await tenant.publish(subject, b"{}")
        await settled(tenant)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()


@pytest.mark.parametrize("subject", ["fairway.>", "fairway.job.*.team-b", "fairway.in.team-b.submit", "_INBOX.>"])
async def test_a_tenant_hears_nobody_else(where: str, subject: str) -> None:
    async with connected(where, "team-a") as (tenant, refused):
        await tenant.subscribe(subject)
        await settled(tenant)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()


async def test_an_acknowledgement_on_its_own_subject_is_no_message_and_nothing_goes_round(where: str) -> None:
    services = await NatsBus.connect(at(where, "fairway"), "services")
    await services.provision()
    async with connected(where, "team-a") as (tenant, _):
        for subject in OWN:
            await tenant.publish(subject, b"{}", reply=OWN[0])
        # When the first of these is acknowledged, so is what was said before it; the second one comes after all that.
        behind = [await tenant.jetstream().publish(OWN[1], b"behind", timeout=10) for _ in "12"]
    assert [one.subject async for one in services.history(subjects.IN)] == [*OWN, OWN[1], OWN[1]]
    assert [one.seq for one in behind] == [3, 4]
    await services.close()
