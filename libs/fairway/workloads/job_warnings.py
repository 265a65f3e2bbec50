"""Warnings of a job that is taken: what in its manifest has no effect, and which secrets are written out in it."""

from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.text.decoding import decoder
from fairway.workloads.plain_env import plain_env
from fairway.workloads.settings.field_effects import warnings
from fairway.workloads.settings.known_fields import MIN_PARALLELISM

# Most manifests have no such name in them, and need not be taken apart.
_LIKELY = MIN_PARALLELISM.rpartition("/")[2].encode()


class _Head(Struct, rename="camel"):
    """All of a manifest that is looked at here; the rest of it is not decoded, however large it is."""

    api_version: Any = None
    kind: Any = None
    metadata: Any = None


_head = decoder(_Head)


def job_warnings(manifest: bytes) -> tuple[str, ...]:
    """A sentence for each; nothing of what is no job of a known kind: it is refused."""
    return (*_without_effect(manifest), *plain_env(manifest))


def _without_effect(manifest: bytes) -> tuple[str, ...]:
    if _LIKELY not in manifest:
        return ()
    try:
        head = _head(manifest)
    except msgspec.DecodeError:
        return ()
    return warnings({"apiVersion": head.api_version, "kind": head.kind, "metadata": head.metadata})
