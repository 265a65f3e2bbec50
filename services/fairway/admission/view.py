"""What admission decides on."""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from fairway.admission.understand import Understood
from fairway.domain.events import JobRows
from fairway.domain.tenancy.submission_limits import Limits
from fairway.wire.spec import ManifestRef

SERVICE = "admission"
# The one call: for a manifest as the record has it.
MANIFEST = "manifest"


class ReadManifest(Struct, frozen=True):
    """What is in the record where `ref` says: nothing (None), if it is gone, or another one by now."""

    ref: ManifestRef
    manifest: dict[str, Any] | None


class View(JobRows, Protocol):
    """`clients` maps a client id to the job it made and the digest of its manifest; `names` a taken name to a job;
    `pending` a tenant to how many of its jobs are. `hasty` messages came faster than their tenant may submit."""

    understood: dict[str, Understood]
    clients: dict[str, tuple[str, str]]
    names: dict[str, str]
    pending: dict[str, int]
    hasty: set[str]

    @property
    def limits(self) -> Mapping[str, Limits]: ...
