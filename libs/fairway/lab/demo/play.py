"""The demo from start to end: a fleet in a folder of its own, the scenario on it, and what is told of it."""

import asyncio
import shutil
import signal
import tempfile
import time
from pathlib import Path

from rich.text import Text

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.client.failure import say
from fairway.client.terminal import console
from fairway.lab.demo.checks import Stage
from fairway.lab.demo.recorded_events import Record
from fairway.lab.demo.scenario import Script, load
from fairway.lab.demo.screen import Screen
from fairway.lab.demo.submitters import Submitters
from fairway.lab.demo.summary import answered, ending, last
from fairway.lab.fleet.cluster_shapes import gpu_clusters
from fairway.lab.fleet.decided_again import decided_again
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running

# How long the examples' pods run: none of them says so itself.
_RUN_MS = 2_000


async def play(scenario: Path) -> bool:
    """Whether everything became as promised. Raises Failure, or CancelledError after Ctrl-C."""
    _once_interruptible()
    began = time.monotonic()
    script = load(scenario)
    folder = Path(tempfile.mkdtemp(prefix="fairway-demo-"))
    plan = FleetPlan(gpu_clusters(), default_run_ms=_RUN_MS)
    kept = False
    try:
        record = Record()
        screen = Screen(script.scenario, record, began)
        async with screen.shown():
            screen.say("starting NATS, Valkey, a hub, three clusters and the services")
            async with running(folder, plan) as fleet:
                text, kept = await _on(fleet, script, record, screen)
        console().print(text, end="")
        console().print(last(kept, script.scenario, time.monotonic() - began))
    finally:
        if kept or _interrupted():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"the logs are in {folder}")
    return kept


def _once_interruptible() -> None:
    """The first signal ends the demo in order; a second one would only leave something behind."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None, "called in a coroutine"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: None if task.cancelling() else task.cancel())


def _interrupted() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


async def _on(fleet: EmbeddedFleet, script: Script, record: Record, screen: Screen) -> tuple[Text, bool]:
    bus = await NatsBus.connect(fleet.nats.url, "fairway-demo")
    hub = await KubernetesCluster.from_kubeconfig("hub", fleet.hub_kubeconfig)
    doors = Submitters(fleet, bus, hub)
    stage = Stage(script, doors, record)
    following = asyncio.create_task(record.follow(bus))
    try:
        screen.say("setting tenants, queues and priorities")
        await doors.settle(script.settings)
        screen.doing = ""
        await stage.play()
        told = await answered(script.scenario, stage, doors, bus)
        screen.say("ending the services, and deciding again what they decided")
        return ending(script.scenario, stage, told, await decided_again(fleet, bus))
    finally:
        following.cancel()
        await asyncio.wait([following])
        await doors.close()
        await hub.close()
        await bus.close()
