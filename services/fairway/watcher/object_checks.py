"""What is asked of a member cluster when one of its objects is not as it should be, as values."""

from typing import Any

from msgspec import Struct

from fairway.domain.batch_resources import batch_pod_sets
from fairway.wire import jobs as wire

Json = dict[str, Any]
COMPARE = "compare"
LOOK = "look"
GONE = "gone"
THERE = "there"
STRIPPED = "stripped"


class ObjectDoubt(Struct, frozen=True):
    """An object's spec has been written to since it was looked at last. `lost`: what we own in it has become less."""

    mark: str
    lost: bool = False


class Compare(Struct, frozen=True):
    """Is `live` still what was applied of this manifest? `tokens`: nothing was written about tokens of its pods.
    `batch` are its pod sets that run on batch resources."""

    manifest: wire.ManifestRef
    live: Json
    doubt: ObjectDoubt
    tokens: bool = False
    batch: tuple[str, ...] = ()


def compare(spec: wire.JobSpec, live: Json, doubt: ObjectDoubt) -> Compare:
    """What an older version applied says nothing of tokens."""
    return Compare(spec.manifest, live, doubt, spec.tokens or not spec.pod_security, batch_pod_sets(spec.workload))


class ObjectLook(Struct, frozen=True):
    """Is the object really gone? The answer is GONE, THERE (as it should be) or STRIPPED (of our labels). Without
    `uid` nobody knows which one it was."""

    kind: str
    namespace: str
    name: str
    uid: str
