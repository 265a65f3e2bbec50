"""`python -m fairway.lab.kubereal --config FILE.json`: a fleet of real clusters, as long as this process lives.

The file is a `members.Fleet` as JSON. Builds what is not built yet. Writes `<name>.kubeconfig` per cluster, and prints
one line of JSON when everything is ready: {"ready": true, "clusters": {name: {"url", "kubeconfig", "labels"}}, "pids":
{"etcd": 1, "hub/kube-apiserver": 2, ...}}. Ends at SIGTERM and SIGINT, and its servers with it.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

import msgspec
import uvloop

from fairway.lab.kubereal.build import BuildError, Tools, tools
from fairway.lab.kubereal.fleet import RealFleet
from fairway.lab.kubereal.members import RealClusters
from fairway.lab.kubereal.program import NotUp
from fairway.lab.kubereal.sources.toolchain import NoGo


async def host(fleet: RealClusters, found: Tools) -> str:
    """Until it is told to end, or one of its servers ends by itself: then it says which."""
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    real = RealFleet(fleet, found)
    try:
        said = {"ready": True, "clusters": await real.start(), "pids": real.planes.pids()}
        print(msgspec.json.encode(said).decode(), flush=True)
        asked = asyncio.create_task(end.wait())
        fallen = asyncio.create_task(real.planes.first_end())
        await asyncio.wait((asked, fallen), return_when=asyncio.FIRST_COMPLETED)
        for one in (asked, fallen):
            one.cancel()
        return "" if asked.done() and not asked.cancelled() else fallen.result()
    finally:
        await real.planes.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fairway.lab.kubereal", description=__doc__)
    parser.add_argument("--config", required=True, type=Path, help="the fleet as JSON")
    given = parser.parse_args()
    try:
        fleet = msgspec.json.decode(given.config.read_bytes(), type=RealClusters)
        found = tools(say=lambda text: print(text, file=sys.stderr, flush=True))
        fallen = uvloop.run(host(fleet, found))
    except (OSError, msgspec.MsgspecError, BuildError, NoGo, NotUp) as error:
        print(f"the clusters did not start: {error}", file=sys.stderr)
        return 1
    if fallen:
        print(fallen, file=sys.stderr)
    return int(bool(fallen))


if __name__ == "__main__":
    sys.exit(main())
