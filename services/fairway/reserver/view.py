"""What the reserver decides on, and what it tells itself."""

from typing import Protocol

from fairway.domain.events import JobRows
from fairway.reserver.node_rows import Capacity
from fairway.wire import fleet


class Expire(fleet.FleetMessage, frozen=True, kw_only=True, tag="expire"):
    """Local: look for reservations that nobody dispatched, and for clusters that have left."""


class ReserverBegins(fleet.FleetMessage, frozen=True, kw_only=True, tag="reserver_begin"):
    """Local: the reserver starts on a working set, which may know nothing of the clusters yet."""


class View(Capacity, JobRows, Protocol):
    """The capacity cache, and the jobs that the messages speak of."""
