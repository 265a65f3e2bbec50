"""What the store and the members hold for jobs: nothing, when all of them have ended, but what may be looked at."""

import redis.asyncio as redis

from tests.faults.arena.heard import Heard
from tests.faults.arena.members import Members


async def held(url: str) -> list[str]:
    """Quota that is charged, and room that is held."""
    async with redis.Redis.from_url(url) as store:
        charged = await store.hgetall("{fairway}:t:quota")
        found = [f"{name.decode()} is still charged {int(left)}" for name, left in charged.items() if int(left)]
        found += [f"the share {key.decode()} is still owed" for key in await store.hkeys("{fairway}:t:owed")]
        async for table in store.scan_iter(match="{fairway}:t:ledger/*"):
            found += [f"{table.decode()} still has {key.decode()}" for key in await store.hkeys(table)]
    return sorted(found)


def remains(members: Members, heard: Heard) -> list[str]:
    """Objects of attempts that were cancelled, moved or lost."""
    here = ((key, what) for key, what in members.left() if not heard.may_stay(key))
    return [f"{what} is left of attempt {attempt} of {job}" for (job, attempt), what in here]
