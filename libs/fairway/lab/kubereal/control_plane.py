"""Control planes: one etcd, and on it any number of clusters, each an API server with what its spec asks for."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct

from fairway.lab.kubereal.accounts import token_file
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.certificates import private_key, written
from fairway.lab.kubereal.flags import WITHOUT_CONTROLLERS, api_server, controller_manager, etcd, kwok, scheduler
from fairway.lab.kubereal.kwok_stages import stages
from fairway.lab.kubereal.program import NotUp, Program
from fairway.lab.kubesim.clusters import kubeconfig
from fairway.lab.kubesim.http.identities import MASTERS, Identity
from fairway.lab.processes.server import free_ports
from fairway.runtime import private_files

_API = "kube-apiserver"
# An API server that finds a hundred thousand objects reads them first; one that fails ends by itself.
_READY_S = 240.0
_LOOK_S = 0.5


class Spec(Struct, frozen=True):
    """A hub is an API server alone; a member has controllers, a kubelet in kwok's shape, and mostly the scheduler.
    `api_flags` are further flags of the API server. A pod that does not say how long it runs runs for `default_run_ms`;
    0 is for ever. The first of the `identities` is the administrator; without any, one is made. `rate` is how many
    requests a second controllers and scheduler make at most, 0 their own limit: 20 and 50."""

    name: str
    controllers: bool = False
    scheduler: bool = False
    kubelets: bool = False
    api_flags: tuple[str, ...] = ()
    default_run_ms: int = 0
    identities: tuple[Identity, ...] = ()
    rate: int = 0


def member(name: str, *api_flags: str) -> Spec:
    """A cluster that runs pods by itself."""
    return Spec(name, controllers=True, scheduler=True, kubelets=True, api_flags=api_flags)


class Plane:
    """One cluster. `kubeconfig` is its administrator's; `programs` are its processes by name."""

    def __init__(self, spec: Spec, dir: Path, tools: Tools, store: str) -> None:
        self.spec = spec
        self.dir = dir
        self.tools = tools
        self._known = spec.identities or (Identity(secrets.token_urlsafe(32), "admin", "admin", (MASTERS,)),)
        self.token = self._known[0].token
        self.programs: dict[str, Program] = {}
        self.port = 0
        self._store = store
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def kubeconfig(self) -> Path:
        return self.dir / "kubeconfig"

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Returns when the API answers and everything of the spec has been started."""
        private_files.folder(self.dir)
        private_files.write(self.dir / "sa.key", written(private_key()))
        private_files.write(self.dir / "tokens.csv", token_file(self._known))
        self.port = self.port or free_ports(1)[0]
        await self.start_api()
        if self.spec.controllers:
            await self.program("kube-controller-manager", controller_manager(self.kubeconfig, self.dir, self.spec.rate))
        if self.spec.scheduler:
            await self.program("kube-scheduler", scheduler(self.kubeconfig, self.spec.rate))
        if self.spec.kubelets:
            path = self.dir / "stages.yaml"
            path.write_text(stages(self.name, self.spec.default_run_ms))
            await self.program("kwok", kwok(self.kubeconfig, path))

    async def start_api(self) -> None:
        """The API server; again on the same port, if it was ended."""
        flags = [*api_server(self.name, self.dir, self.port, self._store), *self.spec.api_flags]
        server = await self._start(_API, flags if self.spec.controllers else [*flags, *WITHOUT_CONTROLLERS])
        try:
            await server.until(self._answers, _READY_S)
        except NotUp:
            await server.kill()
            raise
        self._write_kubeconfig()

    async def program(
        self, program: str, args: Sequence[str | Path], env: Mapping[str, str] | None = None, name: str = ""
    ) -> Program:
        """Starts one of the built programs for this cluster, for as long as there is the cluster. Its log is
        `dir/NAME.log`; its name is the program's if none is given."""
        started = await self._start(program, args, env, name or program)
        self.run(started.keep())
        return started

    async def _start(
        self, program: str, args: Sequence[str | Path], env: Mapping[str, str] | None = None, name: str = _API
    ) -> Program:
        started = Program(name, [self.tools.program(program), *args], self.dir, env)
        self.programs[name] = started
        await started.start()
        return started

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Something of the cluster that runs in this process, until the cluster is stopped."""
        self._tasks.add(asyncio.create_task(work))

    async def stop(self) -> None:
        """The API server last: the others would only complain."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        api = self.programs.get(_API)
        await asyncio.gather(*(one.stop() for one in self.programs.values() if one is not api))
        if api is not None:
            await api.kill()  # it would take its time for connections to drain

    def certificate(self) -> bytes:
        """What clients trust; the API server makes it for itself, in PEM."""
        return (self.dir / "certs" / "apiserver.crt").read_bytes()

    async def _answers(self) -> bool:
        if not (self.dir / "certs" / "apiserver.crt").exists():
            return False
        try:
            trust = ssl.create_default_context(cadata=self.certificate().decode())
            async with aiohttp.ClientSession() as session:
                headers = {"Authorization": f"Bearer {self.token}"}
                async with session.get(f"{self.url}/readyz", headers=headers, ssl=trust) as answer:
                    return answer.status == 200
        except (aiohttp.ClientError, OSError, ssl.SSLError, ValueError):
            return False

    def _write_kubeconfig(self) -> None:
        content = msgspec.json.format(msgspec.json.encode(self.kubeconfig_of(self.token)))
        private_files.write(self.kubeconfig, content)

    def kubeconfig_of(self, token: str) -> dict[str, Any]:
        """Of whoever has this token."""
        return kubeconfig(self.name, self.url, self.certificate(), token)


class Planes:
    """The clusters by name, and the etcd under them."""

    def __init__(self, dir: Path, tools: Tools) -> None:
        self._dir = dir.resolve()
        self._tools = tools
        self._etcd: Program | None = None
        self.store = ""  # etcd's address
        self.by_name: dict[str, Plane] = {}

    def __getitem__(self, name: str) -> Plane:
        return self.by_name[name]

    async def start(self, specs: Sequence[Spec]) -> None:
        private_files.folder(self._dir)
        client, peer = free_ports(2)
        self.store = f"http://127.0.0.1:{client}"
        command: list[str | Path] = [self._tools.program("etcd"), *etcd(self._dir / "etcd", client, peer)]
        self._etcd = Program("etcd", command, self._dir)
        await self._etcd.start()
        await self._etcd.until(self._healthy)
        await asyncio.gather(*(self.add(spec) for spec in specs))

    async def add(self, spec: Spec) -> Plane:
        """One cluster more, on the same etcd."""
        plane = self.by_name[spec.name] = Plane(spec, self._dir / spec.name, self._tools, self.store)
        await plane.start()
        return plane

    async def _healthy(self) -> bool:
        try:
            async with aiohttp.ClientSession() as session, session.get(f"{self.store}/health") as answer:
                return answer.status == 200
        except (aiohttp.ClientError, OSError):
            return False

    async def first_end(self) -> str:
        """Says which server ended by itself, as soon as one has. What is kept alive (schedulers, operators) is none."""
        while True:
            servers = {"etcd": self._etcd} if self._etcd is not None else {}
            servers |= {f"{name}/{_API}": plane.programs[_API] for name, plane in self.by_name.items()}
            for name, server in servers.items():
                if not server.alive:
                    return f"{name} ended by itself; its log is {server.log}"
            await asyncio.sleep(_LOOK_S)

    def pids(self) -> dict[str, int]:
        """Of every process: `etcd`, and `<cluster>/<program>`."""
        found = {"etcd": self._etcd.pid} if self._etcd is not None else {}
        for plane in self.by_name.values():
            found |= {f"{plane.name}/{name}": program.pid for name, program in plane.programs.items()}
        return found

    async def stop(self) -> None:
        await asyncio.gather(*(plane.stop() for plane in self.by_name.values()))
        if self._etcd is not None:
            await self._etcd.kill()


@asynccontextmanager
async def planes(dir: Path, specs: Sequence[Spec], tools: Tools) -> AsyncIterator[Planes]:
    """Clusters that are ended however the block ends. Ready in a few seconds."""
    found = Planes(dir, tools)
    try:
        await found.start(specs)
        yield found
    finally:
        await found.stop()
