"""Who is a member, kept current while services run: from a folder of kubeconfigs, and from Secrets in the hub."""

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import structlog
from msgspec import structs

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.agent import SHAPES
from fairway.domain.tenancy.profile import HOME
from fairway.join.secret import LABEL, SECRET, Joined, read_secret
from fairway.process.settings import Settings
from fairway.runtime.cluster_port import Change, Cluster
from fairway.runtime.views.members import Facts, Members
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import selector_of

log = structlog.get_logger()
_LOOK_S = 2.0
# A call takes 30 s at most, so what is in hand with a cluster that went has ended by then.
_FAREWELL_S = 35.0
Print = tuple[tuple[int, int], ...]


class Enrolment:
    """`left` gets the name of each cluster whose Secret went; `secrets` are the joined ones by name, once `known` is
    set: then the hub has told them all."""

    def __init__(self, settings: Settings, bus: NatsBus | None = None) -> None:
        self.members = Members()
        self.secrets: dict[str, Joined] = {}
        self.known = asyncio.Event()
        self.left: asyncio.Queue[str] = asyncio.Queue()
        self._settings = settings
        self._bus = bus
        self._origins: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._prints: dict[str, Print] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def read_folder(self) -> None:
        """Takes over what is there now: new files, changed ones, and that others are gone."""
        found = {
            name: path for name, path in self._settings.members().items() if self._settings.only_cluster in ("", name)
        }
        for name, path in found.items():
            facts = path.with_name(f"{name}.json")
            seen = (_print(path), _print(facts))
            if self._prints.get(name) == seen:
                continue
            self._prints[name] = seen
            try:
                said = msgspec.json.decode(facts.read_bytes(), type=Facts) if facts.exists() else Facts()
                await self._take(name, path, said, "folder")
            except (BadKubeconfig, msgspec.DecodeError, OSError) as error:
                log.error("cluster not taken", cluster=name, cause=str(error))
        for name in [name for name, origin in self._origins.items() if origin == "folder" and name not in found]:
            self._prints.pop(name, None)
            self._drop(name)

    async def follow_folder(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            await self.read_folder()

    async def follow_hub(self, hub: Cluster) -> None:
        """The Secrets of Fairway's own namespace, and no others."""
        async for change in hub.watch(SECRET, LABEL, HOME):
            if change.synced:
                self.known.set()
            elif change.gone:
                self._leave(self._named.pop(change.name, ""))
            else:
                await self._joined(change)

    async def _joined(self, change: Change) -> None:
        try:
            one = read_secret(change.manifest)
            if self._settings.only_cluster not in ("", one.name):
                return
            self._check_name(change.name, one.name)
            if self._named.get(change.name, one.name) != one.name:
                self._leave(self._named[change.name])
            self._named[change.name] = one.name
            self.secrets[one.name] = one
            await self._take(one.name, one.kubeconfig, one.facts, "hub")
        except (BadKubeconfig, OSError, ValueError) as error:
            # The last good one stays in force.
            log.error("cluster not taken", secret_name=change.name, cause=str(error))

    def _check_name(self, secret: str, cluster: str) -> None:
        if self._origins.get(cluster) == "folder":
            raise BadKubeconfig(f"Secret {secret}", f"names {cluster}, whose kubeconfig is in the folder")
        others = [other for other, name in self._named.items() if name == cluster and other != secret]
        if others:
            raise BadKubeconfig(f"Secret {secret}", f"names {cluster}, as Secret {others[0]} does; delete one of them")

    def _leave(self, name: str) -> None:
        if self.secrets.pop(name, None) is not None:
            self._drop(name)
            self.left.put_nowait(name)

    async def _take(self, name: str, kubeconfig: Any, facts: Facts, origin: str) -> None:
        """New credentials for the same cluster go into the client that is in use; another cluster takes its place.
        `kubeconfig` is a file or its content; `origin` is who says so."""
        known = self.members.get(name)
        before = self.members.facts(name)
        if known is not None and (before.uid, before.mode) == (facts.uid, facts.mode):
            if isinstance(known, KubernetesCluster):
                await known.renew(kubeconfig)
            if facts != before:
                self.members.put(known, facts)
            return
        if facts.mode == "pull":
            cluster: Cluster = await self._remote(name, origin)
        else:
            cluster = await KubernetesCluster.from_kubeconfig(name, kubeconfig, self.options(origin))
        self._origins[name] = origin
        self.members.put(cluster, facts)
        log.info("cluster is a member", cluster=name, origin=origin)
        if known is not None:
            self._close(known)

    async def _remote(self, name: str, origin: str) -> Cluster:
        """Of one in pull mode there are no credentials here: its own side does what is asked over the bus."""
        if self._bus is None or origin == "folder":
            raise BadKubeconfig(name, "is in pull mode; join it with `fairway join --mode pull`")
        return await RemoteCluster.open(name, self._bus.client)

    def options(self, origin: str) -> Options:
        return member_options(self._settings, loopback=origin == "folder" or self._settings.allow_loopback)

    def _drop(self, name: str) -> None:
        self._origins.pop(name, None)
        cluster = self.members.drop(name)
        log.info("cluster is no member any more", cluster=name)
        if cluster is not None:
            self._close(cluster)

    def _close(self, cluster: Cluster) -> None:
        async def later() -> None:
            await asyncio.sleep(_FAREWELL_S)
            await cluster.close()

        task = asyncio.create_task(later())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        for task in self._closing:
            task.cancel()
        for cluster in self.members.values():
            await cluster.close()


def member_options(settings: Settings, loopback: bool) -> Options:
    """Of pods nobody reads more than an agent does, but of those that are jobs themselves."""
    whole = tuple(selector_of(kind) for kind in KINDS.values() if kind.label)
    return structs.replace(_options(settings, loopback), shapes=SHAPES, whole=whole)


def hub_options(settings: Settings) -> Options:
    fields = {key: kind.hub_fields for key, kind in KINDS.items() if kind.hub_fields}
    return structs.replace(_options(settings, loopback=True), fields=fields)


def _options(settings: Settings, loopback: bool) -> Options:
    pace = WatchPace(idle=settings.watch_silence)
    return Options(kinds=tuple(sorted(KINDS)), seed=os.getpid(), loopback=loopback, pace=pace)


def _print(path: Path) -> tuple[int, int]:
    """Differs once the file does; zeros when there is none."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


async def follow_file(path: Path, cluster: KubernetesCluster) -> None:
    """Renews a cluster's credentials whenever its kubeconfig is written anew."""
    seen = _print(path)
    while True:
        await asyncio.sleep(_LOOK_S)
        if _print(path) in (seen, (0, 0)):
            continue
        seen = _print(path)
        try:
            await cluster.renew(path)
        except (BadKubeconfig, OSError, ValueError) as error:
            log.error("new credentials not taken", cluster=cluster.name, cause=str(error))
