"""Whether an object of the hub says by its status that it is over. Pure."""

from fairway.wire.reasons import Refused
from fairway.wire.workload import Workload
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.kinds.registry import read_unchecked, status


def end_of(one: HubObject) -> str:
    """`succeeded` or `failed` when its status says that it is over; else empty."""
    manifest = one.manifest
    if not manifest.get("status"):
        return ""
    try:
        state = status(manifest, _sized(one), manifest["status"]).state
    except (Refused, KeyError, TypeError, ValueError):
        return ""
    return state if state in ("succeeded", "failed") else ""


def _sized(one: HubObject) -> Workload:
    """What it asks for; nothing of one that cannot be read without what it refers to."""
    if one.refers:
        return Workload(one.api_version, one.plain, one.namespace, one.name, (), 0)
    return read_unchecked(cleaned(one.manifest))


def ended(one: HubObject) -> bool:
    """Its status says that it is over: nobody wants it run again because Fairway is new here."""
    return bool(end_of(one))
