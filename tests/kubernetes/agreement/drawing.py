"""Random cases, most of them close to full. A seed and a number name a case for ever.

How many pods a gang has is drawn around what one packing of its nodes holds, which the simulator of members finds: it
judges by itself, and not by the placement that is under test.
"""

import random
from typing import Any

from msgspec.structs import replace

from fairway.domain.resources import add
from fairway.lab.kubesim.fit import Space, Want, amounts, obstacle, pod_requests, space_of, want_of
from tests.kubernetes.agreement.cases import Case, DrawnNode, DrawnPods
from tests.kubernetes.agreement.manifests import Place
from tests.kubernetes.agreement.node_rules import NodeRules, affinity, labels, selector, taints, tolerations
from tests.kubernetes.agreement.pod_specs import BATCH_CPU, GPU, HUGE, NIC, pod_spec

Json = dict[str, Any]
Amounts = dict[str, int]

# In millicores, MiB and pieces.
_NODE = {"cpu": (2_000, 3_500, 4_000, 6_000, 8_000), "memory": (4_096, 8_192, 12_000, 16_384)}
_POD = {"cpu": (250, 500, 1_000, 1_500, 2_000, 3_000), "memory": (500, 1_024, 2_048, 3_000, 4_096)}
# What some cases have beside cpu and memory: how often a case does, what its nodes have, what its pods ask for.
_MORE = {
    GPU: (0.5, (0, 2, 4, 4), (0, 1, 1, 2)),
    NIC: (0.15, (0, 1, 3), (0, 1)),
    "ephemeral-storage": (0.2, (2_000, 8_192), (0, 1_000, 1_500)),
    BATCH_CPU: (0.1, (0, 2_000, 4_000), (0, 1_000, 1_500)),
    HUGE: (0.1, (0, 64, 256), (0, 32, 64)),
}
_MOST_PODS = 10
# Most cases in which some pod has no node at all are drawn again: they say little.
_HOPELESS = 0.1


def drawn(seed: int, number: int) -> Case:
    """The same case for the same two numbers."""
    dice = random.Random(f"{seed}/{number}")
    while True:
        case = _roughly(dice, seed, number)
        packed = _packed(dice, case)
        if all(packed) or dice.random() < _HOPELESS:
            return replace(case, gang=_near(dice, case.gang, packed))


def _roughly(dice: random.Random, seed: int, number: int) -> Case:
    """With one pod of each pod set."""
    extra = [name for name, (share, _, _) in _MORE.items() if dice.random() < share]
    rules = NodeRules.drawn(dice)
    nodes = tuple(_node(dice, extra, rules) for _ in range(dice.randint(2, 4)))
    sets = dice.choice((1, 1, 1, 2, 2, 3))
    gang = tuple(DrawnPods(f"set{at}", 1, _pod(dice, extra, rules, len(nodes))) for at in range(sets))
    return Case(seed, number, nodes, gang)


def _node(dice: random.Random, extra: list[str], rules: NodeRules) -> DrawnNode:
    sizes = {name: dice.choice(choices) for name, choices in _NODE.items()}
    sizes |= {name: dice.choice(_MORE[name][1]) for name in extra}
    # Some do not say it, and take none then.
    sizes["pods"] = 0 if dice.random() < 0.03 else dice.choice((2, 4, 6, 110, 110, 110))
    others = tuple(pod_spec(dice, _requests(dice, extra)) for _ in range(dice.choice((0, 0, 1, 1, 2))))
    node = DrawnNode(
        amounts={name: amount for name, amount in sizes.items() if amount},
        labels=labels(dice),
        taints=taints(dice, rules),
        cordoned=dice.random() < 0.06,
        away=dice.random() < 0.04,
        others=others,
        ended=dice.randint(0, len(others)) if dice.random() < 0.15 else 0,
    )
    # A kubelet refuses what is more than it has; but what a node has may become less.
    return node if dice.random() < 0.15 else replace(node, others=node.within)


def _requests(dice: random.Random, extra: list[str]) -> Amounts:
    if dice.random() < 0.04:
        return {}
    asked = {name: dice.choice(choices) for name, choices in _POD.items() if dice.random() < 0.9}
    asked |= {name: dice.choice(_MORE[name][2]) for name in extra}
    if HUGE in asked:  # Kubernetes refuses huge pages without either
        asked.setdefault("memory", 500)
    return {name: amount for name, amount in asked.items() if amount}


def _pod(dice: random.Random, extra: list[str], rules: NodeRules, nodes: int) -> Json:
    spec = pod_spec(dice, _requests(dice, extra))
    return spec | selector(dice, rules) | affinity(dice, rules, nodes) | tolerations(dice, rules)


def _packed(dice: random.Random, case: Case) -> list[int]:
    """How many pods of each pod set one packing has: pods of any of them, each on any node that takes it, until no
    node takes any."""
    place = Place(case, "kube-scheduler")
    spaces = [_space(manifest, one) for manifest, one in zip(place.nodes(), case.nodes, strict=True)]
    wants = [want_of(pod) for pod in place.free()]
    counts = [0 for _ in wants]
    left = list(range(len(wants)))
    while left and sum(counts) < _MOST_PODS:
        which = dice.choice(left)
        fitting = [space for space in spaces if not obstacle(wants[which], space)]
        if fitting:
            _take(dice.choice(fitting), wants[which])
            counts[which] += 1
        else:
            left.remove(which)
    return counts


def _space(manifest: Json, drawn: DrawnNode) -> Space:
    manifest["status"].setdefault("conditions", [{"type": "Ready", "status": "True"}])
    space = space_of(manifest)
    space.free = amounts(manifest["status"]["allocatable"])
    for spec in drawn.others[drawn.ended :]:
        space.free = add(space.free, pod_requests(spec), -1)
    return space


def _take(space: Space, want: Want) -> None:
    space.free = add(space.free, want.requests, -1)


def _near(dice: random.Random, gang: tuple[DrawnPods, ...], packed: list[int]) -> tuple[DrawnPods, ...]:
    """As many as in the packing, a pod more, or some less."""
    more = dice.choice((-2, -1, 0, 0, 1, 1, 1))
    at = dice.randrange(len(gang))
    counts = [count + (more if which == at else 0) for which, count in enumerate(packed)]
    return tuple(replace(one, count=max(1, count)) for one, count in zip(gang, counts, strict=True))
