"""`python -m fairway.lab.bench.recording.metered run SERVICE... --announce`: services which say what their
recorders have taken when they are asked for it on the bus. Where there are no clusters they are stubbed."""

import asyncio
import os
import sys

import msgspec
import uvloop

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.recording.meter import RecorderMeter
from fairway.lab.fleet.stub_clusters import stub_act
from fairway.process import main as process
from fairway.process.log import configure
from fairway.process.settings import Settings, from_environment


def asked_at(pid: int) -> str:
    return f"bench.recorder.{pid}"


async def _run(names: list[str], settings: Settings) -> None:
    meter = RecorderMeter()
    bus = await NatsBus.connect(settings.nats_url, "bench-recorder")

    async def told(_: bytes) -> bytes:
        return msgspec.json.encode(meter.told())

    def ready(facts: dict[str, object]) -> None:
        print(msgspec.json.encode(facts).decode(), flush=True)

    await bus.answer(asked_at(os.getpid()), told)
    try:
        await process.run(names, settings, ready, None if settings.members() else stub_act)
    finally:
        async with asyncio.timeout(1):
            await bus.close()


if __name__ == "__main__":
    configure()
    uvloop.run(_run([one for one in sys.argv[2:] if not one.startswith("--")], from_environment()))
