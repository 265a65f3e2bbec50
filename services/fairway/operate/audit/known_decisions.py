"""What the auditor of evictions needs beside the record: whom the scheduler chose, and which quota tree is in force."""

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.audit.auditor import Checker
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.text.decoding import decoder
from fairway.wire import fleet, subjects
from fairway.wire.preemption.evictions import Evict, Message
from fairway.workloads.settings.quota_trees import read_quota_tree

_relief = decoder(Message)
_configured = decoder(fleet.Configured)
_TREE = "ElasticQuotaTree"
# Who decides has heard of a tree, and of what others said, after this long (ms).
HEARD_MS = 60_000


async def hear_of_evictions(checker: Checker, bus: NatsBus) -> None:
    """Only the newest tree is kept: evictions before it are judged without one. Decisions are kept for a week."""
    await _trees(checker, bus)
    first = None
    async for one in bus.history(subjects.RELIEF):
        first = first or one
        try:
            message = _relief(one.data)
        except msgspec.DecodeError:
            continue  # its consumer has put it among the dead letters
        if isinstance(message, Evict):
            checker.decided(message)
    gone = first is None or first.sequence > 1
    checker.evictions.claims.decisions_since = (first.stored_at + HEARD_MS if first else None) if gone else 0


async def _trees(checker: Checker, bus: NatsBus) -> None:
    async for one in bus.history(subjects.CONFIG, (subjects.configs(_TREE),)):
        said = _configured(one.data)
        tree: QuotaNode | None = None
        manifest = msgspec.json.decode(said.manifest)
        if manifest is not None:
            tree = read_quota_tree(manifest, in_force=True)
        checker.evictions.trees.begin(tree, one.stored_at + HEARD_MS)
