"""What a member has when it joins, counted with an administrator's rights: what its agent says is measured by that."""

import msgspec

from fairway.adapters.kubernetes.admin import Admin
from fairway.agent.observe import node_of
from fairway.domain.resources import Resources, add
from fairway.runtime.views.members import Facts

_NODE = "Node.v1"


async def counted(member: Admin) -> Resources:
    """What its nodes have together, as an agent would report it."""
    total: Resources = {}
    async for manifest in member.objects(_NODE):
        try:
            node, _, _ = node_of(manifest)
        except msgspec.ValidationError:
            continue  # an agent passes it over, too
        total = add(total, node.allocatable)
    return total


def sized(facts: Facts, known: Facts | None, found: Resources, now: int) -> Facts:
    """`known` is what was said of the cluster before. Another size is one that was confirmed now."""
    if known is None or found == known.capacity:
        return msgspec.structs.replace(facts, capacity=found, confirmed=known.confirmed if known else 0)
    return msgspec.structs.replace(facts, capacity=found, confirmed=max(now, known.confirmed + 1))
