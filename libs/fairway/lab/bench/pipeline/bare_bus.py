"""The bare loop: seven hops of messages over the bus adapter, with no store and no decision behind them.

What the bus alone allows on this machine, in the same run and the same number of processes as the pipeline.
`python -m fairway.lab.bench.pipeline.bare_bus URL SIZES COPIES HOP...` serves the named hops until it is told to end.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence

import msgspec
import uvloop

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.provisioning import durable_consumer
from fairway.runtime.ports import Outgoing
from fairway.wire.subjects import Stream

BARE = Stream("BENCH", ("bench.hop.>",))
HOPS = 7


def subject(hop: int, tenant: str = "tenant") -> str:
    return f"bench.hop.{hop}.{tenant}"


def message(name: str, hop: int, size: int) -> Outgoing:
    """The message that hop `hop` hears; its id names the journey and the hop."""
    return Outgoing(f"{name}.{hop}", subject(hop, f"t{hash(name) % 50}"), b"x" * size, "bench.hop", "/fairway/bench")


async def serve(bus: NatsBus, hop: int, sizes: Sequence[int]) -> None:
    """Hears hop `hop` and says the next one; the last hop only acknowledges."""
    source = await bus.consume(BARE.name, f"hop-{hop}", (subject(hop, ">"),))
    while True:
        deliveries = await source.batch(256)
        if hop + 1 < HOPS:
            await bus.publish([message(one.id.rpartition(".")[0], hop + 1, sizes[hop + 1]) for one in deliveries])
        source.ack(deliveries)


async def main(url: str, sizes: Sequence[int], copies: int, hops: Sequence[int]) -> None:
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    bus = await NatsBus.connect(url, f"bare-{'-'.join(map(str, hops))}")
    await bus.provision((BARE,), copies)
    for hop in hops:
        consumer = durable_consumer(f"hop-{hop}", (subject(hop, ">"),))
        await bus.client.jetstream().add_consumer(BARE.name, consumer)
    tasks = [asyncio.create_task(serve(bus, hop, sizes)) for hop in hops]
    print(msgspec.json.encode({"ready": True}).decode(), flush=True)
    await asyncio.wait((asyncio.create_task(end.wait()), *tasks), return_when=asyncio.FIRST_COMPLETED)
    await bus.close()


if __name__ == "__main__":
    url, sizes, copies, *hops = sys.argv[1:]
    uvloop.run(main(url, [int(one) for one in sizes.split(",")], int(copies), [int(one) for one in hops]))
