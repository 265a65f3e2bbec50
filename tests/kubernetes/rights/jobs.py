"""Jobs that need of a member what Fairway may do there."""

from collections.abc import Collection

from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL
from tests.kubernetes.hub.schedule_kinds import SCHEDULES
from tests.kubernetes.rights.fleet import RightsHouse
from tests.kubernetes.support import kinds
from tests.kubernetes.support.kinds import Json, Kind


async def lives(place: RightsHouse, tenant: str) -> None:
    """A job of every kind, from its creation on the hub to its deletion there."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    every = kinds.every()
    for kind in every:
        place.hub.create(kinds.path(kind, tenant), kinds.manifest(kind))
    for kind in every:
        there = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda there=there: place.north.get(there), f"{there} is in the member")
        if kind.key != "Job.batch/v1":
            say(place, there, kinds.good_end(kind))
    for kind in every:
        here = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda here=here: (place.hub.get(here) or {}).get("status"), f"{here} has its status")
        place.hub.delete(here)
    for kind in every:
        there = f"{kinds.path(kind, tenant)}/one"
        await place.until(lambda there=there: not place.north.get(there), f"{there} is gone from the member")


async def scheduled(place: RightsHouse, tenant: str) -> None:
    """A schedule of every kind makes a run, and takes it along when it is deleted."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    of_runs = {f"{kind.name}.{kind.api_version}": kind for kind in kinds.every()}
    for one in SCHEDULES:
        run = of_runs[f"{one.run}.{one.api_version}"]
        place.hub.create(one.path(tenant), one.manifest(tenant, kinds.manifest(run)["spec"]))
        one.ran_two_hours_ago(place.hub, tenant)
        where = kinds.path(run, tenant)
        await place.until(lambda where=where: place.hub.items(where), f"{one.name} has made its run")
        place.hub.delete(one.path(tenant, "tick"))
        await place.until(lambda where=where: not place.hub.items(where), f"the run of {one.name} is gone")


async def edited(place: RightsHouse, tenant: str, of: Collection[Kind] = kinds.every()) -> None:
    """Somebody takes Fairway's labels off an object of each of these kinds: it is removed."""
    place.tenant(tenant, kinds.policy("here", "north", reserve="ledger"))
    for kind in of:
        there = f"{kinds.path(kind, tenant)}/one"
        place.hub.create(kinds.path(kind, tenant), kinds.manifest(kind))
        await place.until(lambda there=there: place.north.get(there), f"{there} is in the member")
        place.north.patch(there, {"metadata": {"labels": dict.fromkeys((JOB_LABEL, ATTEMPT_LABEL))}})
        await place.until(lambda there=there: not place.north.get(there), f"{there} is gone from the member")
        place.hub.delete(there)


def say(place: RightsHouse, there: str, status: Json) -> None:
    """As an operator does."""
    place.north.patch(f"{there}/status", {"status": status})
