"""What admission decides on."""

from collections.abc import Mapping
from typing import Protocol

from fairway.admission.understand import Understood
from fairway.domain.events import JobRows
from fairway.domain.tenancy.submission_limits import Limits

SERVICE = "admission"
# The one call: for a manifest as the record has it.
MANIFEST = "manifest"


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
