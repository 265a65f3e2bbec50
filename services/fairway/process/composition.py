"""The pipeline, composed: from names of stages to services, whatever ports they get. Processes, the simulation and the
fleets in memory of the tests all come here."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct, structs

from fairway.admission import service as admission
from fairway.domain.decision import Call, Outcome
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces
from fairway.global_scheduler import service as global_scheduler
from fairway.hub import service as hub
from fairway.inbound import service as inbound
from fairway.placement.scores import Weights
from fairway.propagator import service as propagator
from fairway.propagator.member_calls import MemberCalls
from fairway.propagator.rooms import Image, Rooms
from fairway.queue import service as queue
from fairway.queue.memory import QueueMemory
from fairway.quota import service as quota
from fairway.reserver import service as reserver
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Clock, World
from fairway.runtime.service import AnyService, Recording
from fairway.runtime.views.members import Members
from fairway.runtime.views.settings import Catalog
from fairway.watcher import service as watcher
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.watcher.silence import SETTLE_MS

Act = Callable[[Call], Awaitable[Outcome]]


class Composition(Struct):
    """What services are made from.

    `world` gives the ports of one more loop, with a store of its own. `key` is the fleet's, with which objects in
    members are sealed. `hub` is where tenants apply their jobs, if there is one. `queues` takes the queue's view once
    it runs. `recording` is told what the memory of a service is given. With `image`, the placeholder image by member,
    room is held in the members. `act` stands in the place of all calls to members. After a silence of most of the fleet
    nothing is given up for `settle_ms`. `weights` are those of the scheduler's scores; what it finds of more than
    `alongside` clusters is stored apart.
    """

    world: Callable[[], World]
    bus: Bus
    clock: Clock
    catalog: Catalog
    meter: Meter
    members: Members
    key: bytes = b""
    hub: Cluster | None = None
    queues: list[QueueMemory] = []
    recording: Callable[[str], Recording | None] = lambda service: None
    image: Image | None = None
    act: Act | None = None
    settle_ms: int = SETTLE_MS
    namespaces: SystemNamespaces = SYSTEM_NAMESPACES
    weights: Weights = Weights()
    alongside: int = global_scheduler.ALONGSIDE

    def services(self, names: Sequence[str]) -> list[AnyService]:
        """In the order of the names; those that are no loops, gateway and agent, are left out."""
        makers: dict[str, Callable[[], Sequence[AnyService]]] = {
            "inbound": lambda: [inbound.service(self.catalog)],
            "admission": lambda: [admission.service(self.catalog, self.bus)],
            "quota": lambda: [quota.service(self.catalog)],
            "queue": lambda: [queue.service(self.catalog, self.meter, self.queues)],
            "global-scheduler": lambda: [global_scheduler.service(self.weights, self.alongside)],
            "reserver": lambda: [reserver.service(self.bus, self.catalog)],
            "propagator": self._propagator,
            "watcher": self._watcher,
            "hub": self._hub,
        }
        made = [service for name in names if name in makers for service in makers[name]()]
        return [structs.replace(one, recording=self.recording(one.name)) for one in made]

    def _hub(self) -> Sequence[AnyService]:
        """None where there is no hub."""
        return [hub.service(self.hub, self.world(), self.catalog, self.namespaces)] if self.hub is not None else []

    def _propagator(self) -> Sequence[AnyService]:
        rooms = None
        if self.act is None and self.image is not None:
            rooms = Rooms(self.members, self.world().store, self.clock, self.image)
        act = self.act or MemberCalls(self.world(), self.members, self.key, rooms, self.hub)
        return propagator.services(act, rooms.run if rooms else None, self.catalog.reserved)

    def _watcher(self) -> Sequence[AnyService]:
        doubts = ObjectDoubts(self.bus, self.members, self.key)
        watches = watcher.MemberWatches(self.members, doubts, self.key)
        return [watcher.service(watches, self.catalog, self.meter, self.settle_ms)]
