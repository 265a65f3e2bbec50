"""How good a cluster is for a gang that fits there: named scores from 0 to 100, and how much each counts.

Integers only, so that the same view gives the same winner on every machine. The scores are worked out in
loops/judging.py.
"""

from msgspec import Struct, structs

from fairway.domain.text.digits import is_whole

# Beyond, one score would leave nothing to the others; sums stay far within 64 bits.
MOST_WEIGHT = 1_000


class Weights(Struct, frozen=True, cache_hash=True):
    """How much each score counts. The defaults want the whole job on its feet, then keep GPUs for those who
    ask for them, then fill what is nearly full (a large gang needs an empty cluster later), then balance."""

    whole_job: int = 8
    scarce_gpu: int = 4
    tightness: int = 2
    fewest_nodes: int = 2
    spread_load: int = 1


class Score(Struct, frozen=True):
    """`total` is the weighted sum; the rest, 0 to 100, higher is better. In a gang of several shapes the leading part
    says all but `whole_job`: the first that asks for an extended resource, else the one with most pods. All are 0 where
    that part is not in the gang and has no room.

    - `whole_job`: share of all its pods that fit, not only of the gang; counted part by part, so that with several
      shapes it is an upper bound
    - `scarce_gpu`: share of the pods that go on nodes without extended resources they did not ask for
    - `tightness`: share of the cluster's room for such pods that the job uses up (best fit)
    - `fewest_nodes`: least nodes that empty ones would need, by the nodes it will be on
    - `spread_load`: share of the cluster's room for such pods, when empty, that stays free
    """

    total: int
    whole_job: int
    scarce_gpu: int
    tightness: int
    fewest_nodes: int
    spread_load: int


def read_weights(text: str) -> Weights:
    """`tightness=5,spread_load=0`: those that are named, and the others as they are. ValueError says what is wrong."""
    given: dict[str, int] = {}
    for one in filter(None, text.replace(",", " ").split()):
        name, _, weight = one.partition("=")
        if name not in Weights.__struct_fields__:
            raise ValueError(f"{name[:40]!r} is no score; the scores are {', '.join(Weights.__struct_fields__)}")
        if name in given:
            raise ValueError(f"{name} is there twice; give it one weight")
        if not is_whole(weight, 4) or int(weight) > MOST_WEIGHT:
            raise ValueError(f"{name} has the weight {weight[:40]!r}; give it a whole number from 0 to {MOST_WEIGHT}")
        given[name] = int(weight)
    return structs.replace(Weights(), **given)
