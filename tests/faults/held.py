"""What the store holds for jobs: nothing, when all of them have ended."""

import redis.asyncio as redis


async def held(port: int) -> list[str]:
    """Quota that is charged, and room that is held."""
    async with redis.Redis(port=port) as store:
        charged = await store.hgetall("{fairway}:t:quota")
        found = [f"{name.decode()} is still charged {int(left)}" for name, left in charged.items() if int(left)]
        found += [f"the share {key.decode()} is still owed" for key in await store.hkeys("{fairway}:t:owed")]
        async for table in store.scan_iter(match="{fairway}:t:ledger/*"):
            found += [f"{table.decode()} still has {key.decode()}" for key in await store.hkeys(table)]
    return sorted(found)
