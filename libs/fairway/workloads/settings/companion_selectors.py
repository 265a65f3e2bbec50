"""Entries of a policy's `resourceSelectors` that are for no job: they name what goes along with the jobs that the same
policy selects. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairway.wire.policy import Selector
from fairway.workloads.companions.named import KINDS, Named, everywhere
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.names import is_name

_BY_NAME = "what goes along with a job goes by its name: by labels, or by its kind alone, nothing is sent"
_NO_NAME = "no object can have such a name"
_EVERYWHERE = "every namespace of every cluster has its own"
_NO_JOB = "it selects no job: what it names goes along with jobs that the same policy selects, and with no others"


def parted(selectors: Sequence[Selector]) -> tuple[tuple[Selector, ...], tuple[Selector, ...]]:
    """Those of jobs, and those that name what goes along with them."""
    jobs = []
    along = []
    for one in selectors:
        if _kind(one.api_version, one.kind) not in KINDS:
            jobs.append(one)
        elif not _in_vain(one.kind, one.name):
            along.append(one)
    return tuple(jobs), tuple(along)


def most_of_one_job(spec: Any) -> int:
    """How many a policy names for the namespace for which it names most."""
    counts = Counter(str(one.get("namespace") or "") for one in _entries(spec) if one.get("name"))
    everywhere_too = counts.pop("", 0)
    return everywhere_too + max(counts.values(), default=0)


def without_effect(spec: Field) -> Iterator[tuple[Field, str]]:
    """The fields by which nothing goes along, and why."""
    selectors = spec["resourceSelectors"]
    if not isinstance(selectors.value, list):
        return
    entries = list(selectors.items())
    along = [one for one in entries if _kind(one["apiVersion"].value, one["kind"].value) in KINDS]
    if along and len(along) == len(entries):
        yield selectors, _NO_JOB
    for entry in along:
        if why := _in_vain(entry["kind"].text(), entry["name"].text()):
            yield entry["name"], why


def _in_vain(kind: str, name: str) -> str:
    if not name:
        return _BY_NAME
    if not is_name(name):
        return _NO_NAME
    return _EVERYWHERE if everywhere(Named(f"{kind}.v1", name)) else ""


def _kind(api_version: Any, kind: Any) -> str:
    return f"{kind}.{api_version}"


def _entries(spec: Any) -> Iterator[Mapping[str, Any]]:
    found = spec.get("resourceSelectors") if isinstance(spec, dict) else None
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and _kind(one.get("apiVersion"), one.get("kind")) in KINDS:
            yield one
