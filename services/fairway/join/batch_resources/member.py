"""The plan for batch resources, carried out in a member with an administrator's credentials; and taken back."""

from collections.abc import Callable

from fairway.adapters.kubernetes.admin import Admin
from fairway.domain.batch_resources import PROFILE, PROFILE_KIND
from fairway.join.batch_resources import objects
from fairway.join.batch_resources.plan import BatchObjects, BatchPlan, plan

Say = Callable[[str], None]


async def planned(member: Admin, cluster: str, chosen: str) -> BatchPlan:
    """Nothing is changed yet. Failure says what is in the way."""
    if not await _served(member):
        return plan(cluster, chosen, BatchObjects(served=False))
    wanted = objects.priority_class()
    wanted["metadata"] = {"name": chosen or objects.NAME}
    found = await member.get(wanted), await member.get(objects.profile(""))
    return plan(cluster, chosen, BatchObjects(True, *found))


async def carry_out(member: Admin, cluster: str, todo: BatchPlan, say: Say) -> None:
    if not todo.class_name:
        kind = PROFILE_KIND.partition("/")[0]
        say(f"left out: {cluster} does not serve {kind}, so nothing is set up there for jobs on batch resources")
        return
    for manifest in todo.removed:
        await member.remove(manifest)
    for manifest in todo.applied:
        await member.put(manifest)
    for name in todo.kept:
        say(f"{name} was there, says what is needed, and is kept")
    say(f"pods on batch resources get PriorityClass {todo.class_name} by ClusterColocationProfile {PROFILE}")


async def clear(member: Admin, say: Say) -> None:
    """What a join made goes, the profile first: it names the class. What somebody else made stays."""
    served = await _served(member)
    for manifest in reversed(objects.objects()):
        if manifest["kind"] == PROFILE_KIND.partition(".")[0] and not served:
            continue
        if (found := await member.get(manifest)) is None:
            continue
        if objects.is_ours(found):
            await member.remove(manifest)
        else:
            say(f"{manifest['kind']} {objects.NAME} stays: no join made it")


async def _served(member: Admin) -> bool:
    return bool(await member.served((PROFILE_KIND,)))
