"""One example of each message of claims and evictions with every field set."""

from msgspec import Struct

from fairway.wire import jobs
from fairway.wire.preemption import evictions
from fairway.wire.preemption.claims import Cause
from tests.contract.wire.parts import AT, GPU, HEAD, SLOTS, WHY

_BOTH = (Cause.RECLAIM, Cause.PREEMPTION)
_SHORT = {f"root/a|{GPU}": 16}
_CANDIDATES = evictions.Candidates(
    attempts=("bert-1/3",),
    clusters=("north",),
    cluster=(0,),
    level=(0,),
    priority=(10,),
    lender=(0,),
    lost=(4_200,),
    path=(0,),
    charge={GPU: (16,)},
)
_VICTIM = evictions.Victim(
    "bert-1", 3, "north", Cause.RECLAIM, 1, 10, quota=True, borrowed=evictions.Borrowed("root/b", GPU, 40, 16)
)

EXAMPLES: dict[str, Struct] = {
    "claimed": jobs.Claimed(
        **HEAD, claim=3, causes=_BOTH, level=2, guarantor="root/a", until=AT + 30_000, short=_SHORT
    ),
    "nominated": jobs.Nominated(
        **HEAD, claim=3, cluster="north", slots=SLOTS, victims=2, evicted=1, until=AT + 180_000
    ),
    "unclaimed": jobs.Unclaimed(**HEAD, claim=3, why=WHY, again=AT + 8_000),
    "evicted": jobs.Evicted(
        **HEAD,
        cluster="north",
        why=WHY,
        final=True,
        claim="claim-7f3a09cd",
        right=Cause.PREEMPTION,
        leaf="root/a",
        level=2,
        priority=100,
        own_level=1,
        own_priority=10,
    ),
    "relieve": evictions.Relieve(
        **HEAD,
        claim=3,
        until=AT + 30_000,
        candidates=_CANDIDATES,
        lenders=(evictions.Lender("root/b", -1, {GPU: 24}, {GPU: 16}),),
        paths=(("root", "root/b"),),
        short=_SHORT,
        reclaimable=(GPU,),
        level=2,
        max_grace={"root/b": 60_000},
    ),
    "evict": evictions.Evict(
        **HEAD,
        claim=3,
        cluster="north",
        slots=SLOTS,
        victims=(_VICTIM,),
        level=2,
        looked=40,
        max_grace={"root/b": 60_000},
    ),
}
