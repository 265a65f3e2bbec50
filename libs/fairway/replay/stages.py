"""What of each service is needed to decide again: its memory, its `decide`, and what it hears. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from fairway.admission import decide as admission
from fairway.admission.service import AdmissionMemory
from fairway.admission.view import MANIFEST, ReadManifest
from fairway.domain.decision import Decision, Heard
from fairway.domain.text.decoding import decoder
from fairway.global_scheduler import decide as scheduler
from fairway.global_scheduler.service import SchedulerMemory
from fairway.hub import calls as hub_calls
from fairway.hub import decide as hub
from fairway.hub import messages as hub_messages
from fairway.hub.memory import HubMemory
from fairway.propagator import calls
from fairway.propagator import decide as propagator
from fairway.propagator.service import PropagatorMemory
from fairway.propagator.view import SERVICE as PROPAGATOR
from fairway.queue import decide as queue
from fairway.queue.memory import QueueMemory
from fairway.queue.view import SERVICE as QUEUE
from fairway.queue.view import Hears as QueueHears
from fairway.quota import decide as quota
from fairway.quota.service import QuotaMemory
from fairway.reserver import decide as reserver
from fairway.reserver.service import ReserverMemory
from fairway.runtime.cluster_port import Applied
from fairway.runtime.service import Memory
from fairway.runtime.views.settings import Catalog
from fairway.watcher import decide as watcher
from fairway.watcher import missing
from fairway.watcher.edits import Edit
from fairway.watcher.memory import WatcherMemory
from fairway.watcher.object_checks import COMPARE, LOOK
from fairway.wire import jobs as wire

Decide = Callable[[Any, Heard[Any], int], Decision]
_NONE: Mapping[str, Any] = {}


class ReplayedStage(Struct, frozen=True):
    """`name` is the service's, `says` the one by which the ids of its events are made. `hears` decodes what it
    hears, `bodies` are the types of what its calls bring, by verb."""

    name: str
    memory: Callable[[Catalog], Memory[Any]]
    decide: Decide
    hears: Callable[[bytes], Any]
    says: str = ""
    bodies: Mapping[str, Any] = _NONE

    @property
    def service(self) -> str:
        return self.says or self.name


def _propagator(name: str) -> ReplayedStage:
    return ReplayedStage(
        name,
        lambda catalog: PropagatorMemory(catalog.reserved),
        propagator.decide,
        decoder(propagator.Hears),
        says=PROPAGATOR,
        bodies={
            calls.HOLD: calls.Made | None,
            calls.APPLY: Applied | None,
            calls.ADJUST: calls.Adjusted | None,
            calls.DELETE: bool | None,
        },
    )


_ALL = (
    ReplayedStage(
        "admission",
        AdmissionMemory,
        admission.decide,
        decoder(wire.Manifested),
        bodies={MANIFEST: ReadManifest | None},
    ),
    ReplayedStage(quota.SERVICE, QuotaMemory, quota.decide, decoder(wire.Admitted)),
    ReplayedStage(QUEUE, QueueMemory, queue.decide, decoder(QueueHears)),
    ReplayedStage(scheduler.SERVICE, lambda catalog: SchedulerMemory(), scheduler.decide, decoder(scheduler.Hears)),
    ReplayedStage(reserver.SERVICE, ReserverMemory, reserver.decide, decoder(reserver.Hears)),
    _propagator(PROPAGATOR),
    _propagator(f"{PROPAGATOR}-recall"),
    ReplayedStage(
        missing.SERVICE,
        WatcherMemory,
        watcher.decide,
        decoder(watcher.Hears),
        bodies={COMPARE: tuple[Edit, ...] | None, LOOK: str | None},
    ),
    ReplayedStage(hub_messages.SERVICE, HubMemory, hub.decide, decoder(hub_messages.Hears), bodies=hub_calls.BODIES),
)
# By name, in the order in which a job meets them; the hub, where it has come from there and goes back to, at last.
STAGES = {one.name: one for one in _ALL}
