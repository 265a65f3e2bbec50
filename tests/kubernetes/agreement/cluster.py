"""A cluster where kube-scheduler, Volcano and Koordinator place pods side by side, each on nodes of its own; and what
comes of a batch of cases there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairway import agent
from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Plane, Spec, planes
from fairway.lab.kubereal.operators import start
from fairway.lab.kubereal.operators.setup import namespace
from tests.kubernetes.agreement import rounds
from tests.kubernetes.agreement.cases import Case, DrawnNode
from tests.kubernetes.agreement.manifests import CLUSTER, PLACE, ROUND, SCHEDULERS, VOLCANO_GROUP, Place, ended, gated
from tests.kubernetes.agreement.placement import Said, asked, fleet_of, seen
from tests.kubernetes.agreement.rounds import Came, Try, key_of
from tests.kubernetes.agreement.watching import SHAPES, NodeNow, Watching
from tests.kubernetes.support.koord import only_its_scheduler

Json = dict[str, Any]
# As many requests at once as keep an API server on two cores busy.
_AT_ONCE = 8
# Their own limits are the time that hundreds of new nodes would take.
_SPEC = Spec(
    CLUSTER,
    controllers=True,
    scheduler=True,
    kubelets=True,
    api_flags=("--delete-collection-workers=4",),
    rate=500,
)
_OF_NODES = "node.kubernetes.io/"


class Outcome(Struct, frozen=True):
    """What Fairway said of a place, and what came of its gang: as planned (of one that fits), and as its scheduler
    likes (None: it was not tried so)."""

    place: Place
    said: Said
    planned: Came
    free: Came | None


class SchedulersCluster:
    """`member` is read as an agent does it; `watching` is what the test itself goes by."""

    def __init__(self, hands: KubernetesCluster, member: KubernetesCluster, watching: Watching) -> None:
        self._hands = hands
        self._member = member
        self._watching = watching
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def run(self, cases: Sequence[Case]) -> list[Outcome]:
        """With every scheduler. All cases at once: none has a node or a pod that another one could touch. What is there
        of the cases before is removed first: what the last ones leave goes with the cluster."""
        places = [Place(case, scheduler) for scheduler in SCHEDULERS for case in cases]
        await self._empty()
        await self._fill(places)
        fleet = fleet_of(await seen(self._member))
        said = [(place, asked(fleet, place)) for place in places]
        planned = await self._round("planned", rounds.planned(said))
        await self._remove_pods("planned")
        free = await self._round("free", rounds.free(said))
        return [Outcome(one, what, planned.get(one.name, Came()), free.get(one.name)) for one, what in said]

    async def _fill(self, places: Iterable[Place]) -> None:
        """Nodes as they are drawn, and others' pods on them."""
        known = self._watching.nodes
        manifests = [manifest for one in places for manifest in one.nodes()]
        await self._make("Node.v1", manifests)
        names = [manifest["metadata"]["name"] for manifest in manifests]
        drawn = dict(zip(names, [node for one in places for node in one.case.nodes], strict=True))
        ready = await self._watching.until(
            lambda: sum(name in known and _settled(known[name], drawn[name]) for name in drawn), len(drawn)
        )
        assert ready, f"some of {len(drawn)} nodes are not as they were drawn: {known}"
        await self._add_others([pod for one in places for pod in one.others()])

    async def _add_others(self, others: list[Json]) -> None:
        known = self._watching.pods
        await self._make("Pod.v1", others)
        ends = {"status": {"phase": "Succeeded"}}
        done = {key_of(pod): ended(pod) for pod in others}
        await self._some_at_once(self._hands.patch("Pod.v1", *key, ends, "status") for key in done if done[key])
        there = await self._watching.until(
            lambda: sum(key in known and (known[key].phase == "Succeeded") == done[key] for key in done), len(done)
        )
        assert there, f"some of {len(done)} pods of others are not there, or have not ended"

    async def _round(self, name: str, tries: Sequence[Try]) -> dict[str, Came]:
        """By place. Of whom less than is due is placed, that is tried once more, with pods made anew: koord-scheduler
        now and then gives a gang up whose cycle was over before it had looked at all of it, when it has much to do."""
        came = await self._tried(name, tries)
        short = [one for one in tries if came[one.place.name].bound < one.due]
        if short:
            await self._remove(name, [one.place for one in short])
            came |= await self._tried(name, short)
        return came

    async def _tried(self, name: str, tries: Sequence[Try]) -> dict[str, Came]:
        """By place. Pods are made first: a gang that is known before its pods are is refused for that."""
        known = self._watching.pods
        pods = [pod for one in tries for pod in one.pods]
        await self._make("Pod.v1", pods)
        opened = {"spec": {"schedulingGates": None}}
        await self._some_at_once(self._hands.patch("Pod.v1", *key_of(pod), opened) for pod in pods if gated(pod))
        await self._make(VOLCANO_GROUP, filter(None, (one.place.group(name) for one in tries)))
        await self._watching.until(lambda: sum(one.decided(known) for one in tries), len(tries))
        return {one.place.name: one.came_to(known) for one in tries}

    async def _empty(self) -> None:
        for round in ("free", "others"):
            await self._remove_pods(round)
        await self._hands.discard("Node.v1", "", {ROUND: "nodes"})
        assert await self._watching.until(lambda: -len(self._watching.nodes), 0), "nodes are left"

    async def _remove(self, round: str, places: Sequence[Place]) -> None:
        """What a round made at these places."""
        known = self._watching.pods
        names = {one.name for one in places}
        for one in places:
            await self._hands.discard("Pod.v1", one.scheduler, {ROUND: round, PLACE: one.name})
            if group := one.group(round):
                await self._hands.discard(VOLCANO_GROUP, one.scheduler, {ROUND: round}, group["metadata"]["name"])
        gone = await self._watching.until(lambda: -sum(pod.is_of(round, names) for pod in known.values()), 0)
        assert gone, f"pods of {round} are left at {names}"

    async def _remove_pods(self, round: str) -> None:
        pods = self._watching.pods
        labels = {ROUND: round}
        await self._hands.discard(VOLCANO_GROUP, "volcano", labels)
        await asyncio.gather(*(self._hands.discard("Pod.v1", scheduler, labels) for scheduler in SCHEDULERS))
        gone = await self._watching.until(lambda: -sum(one.round == round for one in pods.values()), 0)
        assert gone, f"pods of {round} are left"

    async def _make(self, kind: str, manifests: Iterable[Json]) -> None:
        await self._some_at_once(self._hands.create(kind, manifest) for manifest in manifests)

    async def _some_at_once(self, requests: Iterable[Awaitable[object]]) -> None:
        async def ask(request: Awaitable[object]) -> None:
            async with self._turn:
                await request

        await asyncio.gather(*map(ask, requests))


def _settled(node: NodeNow, drawn: DrawnNode) -> bool:
    """Ready if it is to be, and with the taints that the cluster's own controllers give it or take from it."""
    if node.ready == drawn.away:
        return False
    lasting = {"cordoned": {_OF_NODES + "unschedulable"}, "away": {_OF_NODES + "not-ready", _OF_NODES + "unreachable"}}
    return all(bool(node.taints & taints) == getattr(drawn, why) for why, taints in lasting.items())


@asynccontextmanager
async def schedulers_cluster(dir: Path) -> AsyncIterator[SchedulersCluster]:
    """With the three schedulers running."""
    built = tools(("kube", "kwok", "volcano", "koordinator"))
    async with AsyncExitStack() as stack:
        plane = (await stack.enter_async_context(planes(dir, [_SPEC], built)))[CLUSTER]
        await asyncio.gather(start(plane, ("volcano",), built), only_its_scheduler(plane, built))
        async with admin(plane) as api:
            await api.apply(map(namespace, SCHEDULERS))
            for name in SCHEDULERS:
                account = partial(api.get, f"/api/v1/namespaces/{name}/serviceaccounts/default")
                await api.until(account, f"the account that pods of {name} want")
        hands = await stack.enter_async_context(_opened(plane, Options(shapes=SHAPES)))
        member_of_fleet = await stack.enter_async_context(_opened(plane, Options(shapes=agent.SHAPES)))
        watching = await stack.enter_async_context(aclosing(Watching(hands)))
        yield SchedulersCluster(hands, member_of_fleet, watching)


@asynccontextmanager
async def _opened(plane: Plane, options: Options) -> AsyncIterator[KubernetesCluster]:
    cluster = await KubernetesCluster.from_kubeconfig(CLUSTER, plane.kubeconfig, options)
    try:
        yield cluster
    finally:
        await cluster.close()
