"""A fleet that belongs to this terminal: one for each folder, gone when the command is gone."""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import typer

from fairway.app.failure import ERROR, Failure, say
from fairway.app.fleet import Fleet, Plan, gpu_clusters
from fairway.kubereal.build import BuildError, tools
from fairway.kubereal.members import three
from fairway.kubereal.toolchain import NoGo

# How long a pod runs that does not say so itself: long enough to be seen, short enough to wait for.
_RUN_MS = 10_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def own(folder: Path) -> Iterator[None]:
    """The folder, for one fleet at a time, without what an earlier one left. Raises Failure when it is taken."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = lock.read().strip() or "another process"
            remedy = "use that one, end it with Ctrl-C, or choose another folder with --dir"
            raise Failure(ERROR, f"a fleet is up in {folder} already ({who})", remedy) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}")
        lock.flush()
        for left in ("nats", "valkey", "clusters", "kubernetes"):
            shutil.rmtree(folder / left, ignore_errors=True)
        for file in (*folder.glob("*.log"), folder / "fleet.json"):
            file.unlink(missing_ok=True)
        yield


async def stay_up(folder: Path, plan: Plan) -> None:
    """Until a signal, or until a part of the fleet ends by itself."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, ended.set)
    with own(folder):
        fleet = Fleet(folder, plan)
        what = f"{len(plan.clusters)} member clusters{' of real Kubernetes' if plan.real else ''}"
        say(f"starting NATS, Valkey, a hub, {what} and the services in {folder} ...")
        try:
            if not await _unless(ended, fleet.start()):
                return
            typer.echo(welcome(fleet, folder))
            fallen = await _first_end(fleet, ended)
        finally:
            say("ending the fleet ...")
            await fleet.stop()
    if fallen:
        raise Failure(ERROR, f"{fallen} ended by itself, so the fleet was ended", f"read {folder}/*.log")
    say("ended; nothing of it is left running")


def simulated(clusters: int) -> Plan:
    return Plan(gpu_clusters(clusters), default_run_ms=_RUN_MS)


def real() -> Plan:
    """Builds Kubernetes first, if it is not there. Raises Failure."""
    built()
    return Plan(three(), default_run_ms=_RUN_MS, real=True)


def built() -> None:
    """Real Kubernetes can be started. Raises Failure."""
    try:
        tools(say=say)
    except (BuildError, NoGo) as error:
        raise Failure(ERROR, f"Kubernetes was not built: {error}") from error


async def _unless(ended: asyncio.Event, work: object) -> bool:
    """Whether the work was done before the end was asked for; else it is given up."""
    doing = asyncio.ensure_future(work)  # type: ignore[call-overload]  # any awaitable
    waiting = asyncio.ensure_future(ended.wait())
    await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if doing.done():
        doing.result()
        return True
    doing.cancel()
    await asyncio.wait((doing,))
    return False


async def _first_end(fleet: Fleet, ended: asyncio.Event) -> str:
    """The name of the part that ended by itself; empty when it was asked for."""
    children = [*fleet.processes.values(), *([fleet.sim] if fleet.sim else [])]
    waits = {asyncio.ensure_future(child.wait()): child.name for child in children}
    waits[asyncio.ensure_future(ended.wait())] = ""
    done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for one in pending:
        one.cancel()
    return "" if ended.is_set() else waits[done.pop()]


def welcome(fleet: Fleet, folder: Path) -> str:
    """What runs where, and how to use it."""
    rows = [("HTTP", fleet.http), ("NATS", fleet.nats.url), ("Valkey", fleet.valkey.url)]
    rows += [(f"services, process {child.pid}", f"log {folder}/{child.log.name}") for child in fleet.processes.values()]
    rows += [("hub", f"kubectl --kubeconfig {folder}/{fleet.hub_kubeconfig.name}")]
    rows += [
        (f"cluster {one.name}", f"kubectl --kubeconfig {folder}/{fleet.kubeconfigs.name}/{one.name}.kubeconfig   "
         f"{one.nodes[0].count} nodes of {one.nodes[0].allocatable['nvidia.com/gpu']} × {one.labels['gpu'].upper()}")
        for one in fleet.plan.clusters
    ]  # fmt: skip
    width = max(len(name) for name, _ in rows)
    where = "" if folder == Path(".fairway") else f" --url {fleet.http}"
    return "\n".join((
        "The fleet is up.", "",
        *(f"  {name:<{width}}  {value}" for name, value in rows), "",
        "Submit with kubectl or with fairway, from another terminal:", "",
        f"  kubectl --kubeconfig {folder}/hub.kubeconfig apply -f job.yaml -f policy.yaml",
        f"  fairway submit{where} -f job.yaml -f policy.yaml --wait",
        f"  fairway get{where} jobs -w",
        f"  fairway why{where} JOB", "",
        "Ctrl-C ends it.",
    ))  # fmt: skip
