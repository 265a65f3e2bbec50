"""hub as a value: one owner at a time, which is told all that the hub shows whenever it begins."""

import msgspec

from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces
from fairway.hub.decide import decide
from fairway.hub.hub_writes import HubWrites
from fairway.hub.memory import HubMemory
from fairway.hub.messages import SERVICE, Hears, OfJobs
from fairway.hub.watches import HubWatches
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import World
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.settings import Catalog
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire
from fairway.wire.fleet import Shown


def service(
    hub: Cluster, world: World, catalog: Catalog, namespaces: SystemNamespaces = SYSTEM_NAMESPACES
) -> Service[HubMemory, Hears]:
    said: Consumer[OfJobs] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(wire.Message), place_of)
    shown: Consumer[Shown] = Consumer(
        *flow.consumer(f"{SERVICE}-status"), msgspec.json.Decoder(Shown), lambda one: subjects.shown(one.tenant)
    )
    ownership = Ownership()
    writes = HubWrites(hub, world.bus, world.clock, ownership)
    return Service(
        SERVICE,
        (said, shown),
        decide,
        lambda: HubMemory(catalog, namespaces),
        act=writes,
        single=True,
        ownership=ownership,
        beside=HubWatches(hub, world.bus, writes),
    )
