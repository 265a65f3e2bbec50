"""`python -m tests.spec.replay.golden_file`: what this version saw and decided, for later ones to decide again.

One file a version of Fairway, written once: it stays as it is, whatever is decided later.
"""

import asyncio
import json
import sys
from base64 import b64decode, b64encode
from importlib.metadata import version
from pathlib import Path

from fairway.adapters.memory.bus import MemoryBus
from fairway.runtime.ports import Outgoing
from tests.spec.replay.recorded import open_house

FOLDER = Path(__file__).parent / "golden"


async def written() -> str:
    """All of the record, for what was seen names its places, and all that the scheduler saw."""
    async with open_house(26, rounds=22, least=8_000) as house:
        jobs = [[one.id, one.subject, one.data.decode()] for one in house.bus.stored("JOBS")]
        views = [[one.id, one.subject, b64encode(one.data).decode()] for one in house.bus.stored("VIEWS")]
    return json.dumps({"JOBS": jobs, "VIEWS": views}, indent=0) + "\n"


async def read(text: bytes) -> MemoryBus:
    kept = json.loads(text)
    bus = MemoryBus()
    for name, subject, data in kept["JOBS"]:
        await bus.publish([Outgoing(name, subject, data.encode())])
    for name, subject, data in kept["VIEWS"]:
        await bus.publish([Outgoing(name, subject, b64decode(data))])
    return bus


if __name__ == "__main__":
    file = FOLDER / f"{version('fairway')}.json"
    if file.exists():
        sys.exit(f"{file} is there, and stays as it is")
    FOLDER.mkdir(exist_ok=True)
    file.write_text(asyncio.run(written()), "utf-8")
