"""A fleet that belongs to this terminal: one for each folder, gone when the command is gone."""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from fairway.client.failure import ERROR, USAGE, Failure, say
from fairway.lab.fleet.cluster_shapes import gpu_clusters
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.identities import TENANTS
from fairway.lab.kubereal.build import BuildError, tools
from fairway.lab.kubereal.members import RealMember
from fairway.lab.kubereal.sources.toolchain import NoGo
from fairway.process.pipeline import everything
from fairway.process.settings import from_environment
from fairway.runtime import private_files

# How long a pod runs that does not say so itself: long enough to be seen, short enough to wait for.
_RUN_MS = 10_000
# One where kube-scheduler places pods one by one, one where Volcano starts gangs, one under Koordinator.
_OPERATORS = {
    "north": ("training", "jax", "spark", "argo", "jobset", "trainer", "lws", "ray", "appwrapper"),
    "south": ("volcano", "training-volcano"),
    "west": ("koordinator", "training", "spark"),
}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def own(folder: Path) -> Iterator[None]:
    """The folder, for one fleet at a time, without what an earlier one left. Raises Failure when it is taken."""
    private_files.folder(folder)
    with open(folder / "lock", "a+", opener=lambda name, flags: os.open(name, flags, private_files.FILE)) as lock:
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
        for left in ("nats", "valkey", "clusters", "kubernetes", "tenants", "identities"):
            shutil.rmtree(folder / left, ignore_errors=True)
        for file in (*folder.glob("*.log"), *folder.glob("*.kubeconfig"), folder / "fleet.json"):
            file.unlink(missing_ok=True)
        yield


async def stay_up(folder: Path, plan: FleetPlan) -> None:
    """Until a signal, or until a part of the fleet ends by itself."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, ended.set)
    with own(folder):
        fleet = EmbeddedFleet(folder, plan)
        what = f"{len(plan.clusters)} member clusters{' of real Kubernetes' if plan.real else ''}"
        say(f"starting NATS, Valkey, a hub, {what} and the services in {folder} ...")
        fallen = asyncio.ensure_future(fleet.first_end())
        until = (asyncio.ensure_future(ended.wait()), fallen)
        try:
            if await _unless(until, fleet.start()):
                typer.echo(welcome(fleet, folder))
                await asyncio.wait(until, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in until:
                one.cancel()
            say("ending the fleet ...")
            await fleet.stop()
    if fallen.done() and not fallen.cancelled():
        raise Failure(ERROR, f"{fallen.result()}; so the fleet was ended")
    say("ended; nothing of it is left running")


def simulated(clusters: int) -> FleetPlan:
    return FleetPlan(gpu_clusters(clusters), _groups(), default_run_ms=_RUN_MS)


def real() -> FleetPlan:
    """Builds Kubernetes first, if it is not there. Raises Failure."""
    built()
    members = tuple(
        RealMember(
            one.name,
            labels=one.labels,
            nodes=one.nodes,
            operators=_OPERATORS[one.name],
            scheduler="koordinator" not in _OPERATORS[one.name],
        )
        for one in gpu_clusters()
    )
    return FleetPlan(members, _groups(), default_run_ms=_RUN_MS, real=True)


def _groups() -> tuple[tuple[str, ...], ...]:
    """One process, with the keeper of manifests if FAIRWAY_MANIFESTS_KEPT is set. Raises Failure."""
    try:
        return (everything(from_environment().manifests_kept),)
    except ValueError as error:
        raise Failure(USAGE, str(error)) from None


def built() -> None:
    """Real Kubernetes can be started. Raises Failure."""
    try:
        tools(say=say)
    except (BuildError, NoGo) as error:
        raise Failure(ERROR, f"Kubernetes was not built: {error}") from error


async def _unless(until: Sequence[asyncio.Future[Any]], work: Coroutine[Any, Any, None]) -> bool:
    """Whether the work was done before any of `until`; else it is given up."""
    doing = asyncio.ensure_future(work)
    await asyncio.wait((doing, *until), return_when=asyncio.FIRST_COMPLETED)
    if doing.done():
        doing.result()
        return True
    doing.cancel()
    await asyncio.wait((doing,))
    return False


def welcome(fleet: EmbeddedFleet, folder: Path) -> str:
    """What runs where, and how to use it."""
    rows = [("HTTP", fleet.http), ("NATS", fleet.nats.url), ("Valkey", fleet.valkey.url)]
    rows += [(f"services, process {child.pid}", f"log {folder}/{child.log.name}") for child in fleet.processes.values()]
    rows += [("hub", f"kubectl --kubeconfig {folder}/{fleet.hub_kubeconfig.name}")]
    rows += [("hub, as a tenant", f"kubectl --kubeconfig {folder}/tenants/{TENANTS[0]}.kubeconfig")]
    rows += [
        (
            f"cluster {one.name}",
            f"kubectl --kubeconfig {folder}/{fleet.kubeconfigs.name}/{one.name}.kubeconfig   "
            f"{one.nodes[0].count} nodes of {one.nodes[0].allocatable['nvidia.com/gpu']} × {one.labels['gpu'].upper()}",
        )
        for one in fleet.plan.clusters
    ]
    width = max(len(name) for name, _ in rows)
    key = f"{folder}/{fleet.token_file.name}"
    where = "" if folder == Path(".fairway") else f" --url {fleet.http} --token-file {key}"
    return "\n".join(
        (
            "The fleet is up.",
            "",
            *(f"  {name:<{width}}  {value}" for name, value in rows),
            "",
            "Submit with kubectl or with fairway, from another terminal:",
            "",
            f"  kubectl --kubeconfig {folder}/hub.kubeconfig apply -f job.yaml -f policy.yaml",
            f"  fairway submit{where} -f job.yaml -f policy.yaml --wait",
            f"  fairway get{where} jobs -w",
            f"  fairway why{where} JOB",
            "",
            "Ctrl-C ends it.",
        )
    )
