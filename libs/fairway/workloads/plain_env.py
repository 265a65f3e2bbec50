"""Warnings of secrets that are written out in the manifest of a job: it is kept in the record as it is."""

import re
from typing import Any

import msgspec

from fairway.domain.tenancy.profile import Tenancy
from fairway.domain.text.decoding import decoder
from fairway.wire.reasons import Refused
from fairway.workloads.kinds.registry import KINDS, read_unchecked
from fairway.workloads.pod_security import tenant
from fairway.workloads.pod_security.pod import containers
from fairway.workloads.pod_security.ruling import PLAIN_ENV_REMEDY, Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, Problems

# Most manifests have no such name in them, and need not be taken apart.
_LIKELY = re.compile(
    rb"PASS|PWD|SECRET|TOKEN|(?:API|ACCESS|ACCOUNT|ENCRYPTION|PRIVATE)[_.-]?KEY|CONNECTION[_.-]?STRING", re.IGNORECASE
)
_MOST = 10
# To look at a larger one would hold up whoever is answered after it: a tenth of a second for some 300 KB.
_LARGEST = 64 * 1024
_manifest = decoder(dict[str, Any])


class _Found(Ruling):
    """Only what is written out, and that nobody is refused for it."""

    def __init__(self) -> None:
        super().__init__(Tenancy(""))
        self.names: dict[str, str] = {}

    def plain_secret(self, view: PodView, name: str) -> None:
        self.names.setdefault(view.place.path, name)

    def _say(self, view: PodView, text: str, remedy: str) -> None:
        return None


def plain_env(manifest: bytes) -> tuple[str, ...]:
    """A sentence for each place. Of what is no job of a known kind nothing is told: it is refused. One that is very
    large is not looked at here; whether its namespace takes it is asked of every job."""
    if len(manifest) > _LARGEST or not _LIKELY.search(manifest):
        return ()
    try:
        said = _manifest(manifest)
        kind = KINDS[read_unchecked(said).key]
    except (msgspec.DecodeError, Refused):
        return ()
    found = _Found()
    root = Field(said, Problems())
    for pod in kind.pod_templates(root):
        for container in containers(pod):
            tenant.environment(container, found)
    kind.besides(root, found)
    told = [f"{path}: is the value of {name}, written out: {PLAIN_ENV_REMEDY}" for path, name in found.names.items()]
    more = f"and {len(told) - _MOST} more values that are written out"
    return (*told[:_MOST], *([more] if len(told) > _MOST else []))
