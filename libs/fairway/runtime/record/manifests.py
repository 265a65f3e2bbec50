"""The manifests of jobs, where the record has them."""

from typing import Any

from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Bus
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.spec import ManifestRef

_manifested = decoder(wire.Manifested)
_manifest = decoder(dict[str, Any])


async def manifest_of(bus: Bus, ref: ManifestRef) -> dict[str, Any] | None:
    """As it was submitted, or as another one that was taken over since; None when the record has it no longer.
    Unreachable when the bus is away."""
    data = await bus.fetch(subjects.JOBS, ref.sequence)
    return None if data is None else _manifest(_manifested(data).manifest)
