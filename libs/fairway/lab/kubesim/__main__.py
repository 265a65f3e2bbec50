"""`python -m fairway.lab.kubesim --config FILE.json`: a fleet of simulated clusters in a process of its own.

The file is a Fleet (below) as JSON. Writes `<name>.kubeconfig` per cluster and prints one line of JSON when
all of them answer: {"ready": true, "clusters": {name: {"url", "kubeconfig", "labels"}}}. Ends at SIGTERM,
SIGINT and, with --until-eof, when its standard input closes, as it does when the parent dies.
"""

import argparse
import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import msgspec
import uvloop

from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.clusters import DEFAULT_RUN_MS, KubeSim
from fairway.lab.kubesim.http.identities import Identities, Identity
from fairway.lab.kubesim.nodes import NodeGroup
from fairway.runtime import private_files


class ClusterConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """A hub has `controllers` false and no nodes. `identities` is the file of those who may ask it (see identities.py);
    without one it asks nobody who they are."""

    name: str
    port: int = 0
    labels: dict[str, str] = {}
    nodes: tuple[NodeGroup, ...] = ()
    controllers: bool = True
    identities: str = ""


class SimFleet(msgspec.Struct, frozen=True, omit_defaults=True):
    """`kubeconfigs` is the folder to write to; an empty `seed` is replaced by a new one at every start."""

    clusters: tuple[ClusterConfig, ...]
    kubeconfigs: str = "."
    default_run_ms: int = DEFAULT_RUN_MS
    seed: str = ""


async def host(fleet: SimFleet, end: asyncio.Event) -> None:
    sim = KubeSim(SystemClock(), fleet.default_run_ms, fleet.seed or os.urandom(8).hex())
    try:
        ready: Json = {}
        for one in fleet.clusters:
            ready[one.name] = await _start(sim, one, Path(fleet.kubeconfigs))
        print(msgspec.json.encode({"ready": True, "clusters": ready}).decode(), flush=True)
        await end.wait()
    finally:
        await sim.stop()


async def _start(sim: KubeSim, one: ClusterConfig, folder: Path) -> Json:
    sim.admit(one.name, await asyncio.to_thread(read_identities, one.identities))
    url = await sim.start_cluster(
        one.name, nodes=one.nodes, labels=one.labels, controllers=one.controllers, port=one.port
    )
    path = folder / f"{one.name}.kubeconfig"
    written = msgspec.json.format(msgspec.json.encode(sim.kubeconfig(one.name)))
    await asyncio.to_thread(_write, path, written)
    return {"url": url, "kubeconfig": str(path), "labels": one.labels}


def read_identities(path: str) -> tuple[Identity, ...]:
    """Of this file; none without one."""
    return msgspec.json.decode(Path(path).read_bytes(), type=Identities).identities if path else ()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    private_files.write(path, content)


async def _main(fleet: SimFleet, until_eof: bool) -> None:
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    if until_eof:
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        waiting = asyncio.create_task(reader.read())
        waiting.add_done_callback(lambda _: end.set())
    await host(fleet, end)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fairway.lab.kubesim", description=__doc__)
    parser.add_argument("--config", required=True, type=Path, help="the fleet as JSON")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input closes")
    given = parser.parse_args()
    try:
        fleet = msgspec.json.decode(given.config.read_bytes(), type=SimFleet)
    except (OSError, msgspec.MsgspecError) as error:
        print(f"{given.config}: {error}; write a fleet as `clusters: [...]` in JSON", file=sys.stderr)
        return 2
    # Stored objects have no cycles, and a full collection over 100,000 of them stops every watch for 0.2 s.
    gc.set_threshold(50_000, 20, 1000)
    uvloop.run(_main(fleet, given.until_eof))
    return 0


if __name__ == "__main__":
    sys.exit(main())
