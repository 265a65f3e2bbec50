"""Pod sets of typed pod templates. What few differ in, such as requests, is read once for the bytes that say it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from fairway.domain.resources import Resources
from fairway.domain.text.foreign_json import deeper
from fairway.wire.workload import PodSet, Toleration
from fairway.workloads.companions.named import may_name
from fairway.workloads.kinds.registry import MOST_LABELS
from fairway.workloads.pod_security.marks import quiet_marks
from fairway.workloads.pod_security.nothing_to_rule_on import quiet_class, quiet_toleration
from fairway.workloads.pod_security.plain_pod import NOTHING, PlainContainer, PlainPodSpec, Scalar, open_fields
from fairway.workloads.reading.batch_marks import KOORD_BATCH
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.named_objects import may_claim
from fairway.workloads.reading.names import OURS, is_label_key, is_label_value
from fairway.workloads.reading.node_rules import Terms, read_selector, read_terms, read_tolerations
from fairway.workloads.reading.pods import MOST_CONTAINERS, pod_requests, read_requests

T = TypeVar("T")
# A fleet's jobs differ in a few hundred of them. Texts of 2 MiB in all are kept at most, and what was found in them.
_KEPT = 2_048
_LONGEST = 1_024
# Far less than a manifest may have, and as many as anything has that is read here.
_DEEPEST = 16


class NotPlain(Exception):
    """It is for the other reader."""


class TemplateMetadata(Struct, forbid_unknown_fields=True, rename="camel"):
    annotations: dict[str, str] | None = None
    creation_timestamp: Scalar = None
    labels: dict[str, str] | None = None
    name: Scalar = None


class PodTemplate(Struct, forbid_unknown_fields=True, kw_only=True):
    metadata: TemplateMetadata | None = None
    spec: PlainPodSpec


def read_pods(name: str, count: int, template: PodTemplate, first: Sequence[Resources] = ()) -> PodSet:
    """As `reading.pods.read_pod_set`, with what the rules of pods look at. Raises NotPlain."""
    metadata = template.metadata
    if metadata is not None and (metadata.annotations or not plain_labels(metadata.labels)):
        raise NotPlain
    spec = template.spec
    if spec.overhead is not None or spec.resources is not None or not quiet_class(spec.priority_class_name):
        raise NotPlain
    if spec.priority_class_name == KOORD_BATCH:
        raise NotPlain
    inits = [(_requests_of(one), one.restart_policy == "Always") for one in spec.init_containers]
    inits += [(requests, False) for requests in first]
    return PodSet(
        name=name,
        count=count,
        requests=pod_requests(map(_requests_of, spec.containers), inits),
        node_selector=dict(_read(spec.node_selector, read_selector)) if spec.node_selector is not NOTHING else {},
        node_terms=_read(spec.affinity, _terms) if spec.affinity is not NOTHING else (),
        tolerations=_read(spec.tolerations, _tolerations) if spec.tolerations is not NOTHING else (),
    )


def names_others(template: PodTemplate) -> bool:
    """Whether other objects may be named in it: where only the text tells."""
    spec = template.spec
    labelled = template.metadata is not None and bool(template.metadata.labels)
    return labelled or spec.priority_class_name is not None or open_fields(spec)


def plain_labels(labels: dict[str, str] | None) -> bool:
    """Whether they may stand on an object and on pods, and none of them is obeyed by anybody."""
    return not labels or (
        len(labels) <= MOST_LABELS
        and quiet_marks(labels)
        and all(
            is_label_key(key) and is_label_value(value) and not key.startswith(OURS) for key, value in labels.items()
        )
    )


def _requests_of(container: PlainContainer) -> Resources:
    return _read(container.resources, read_requests)


def _terms(affinity: Field) -> Terms:
    """A plain pod names no node."""
    return read_terms(affinity, Field(None, affinity.problems))


def _tolerations(field: Field) -> tuple[Toleration, ...]:
    if not all(quiet_toleration(one.value) for one in field.items(MOST_CONTAINERS)):
        raise NotPlain
    return read_tolerations(field)


def _read(raw: Raw, reader: Callable[[Field], T]) -> T:
    text = bytes(raw)
    found: T = _kept(reader, text) if len(text) <= _LONGEST else _found(reader, text)
    return found


def _found(reader: Callable[[Field], T], text: bytes) -> T:
    """What a reader finds in a JSON text in which nothing is wrong, and no other object named."""
    if deeper(text, _DEEPEST) or may_claim(text) or may_name(text):
        raise NotPlain
    try:
        field = Field(msgspec.json.decode(text), Problems())
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotPlain from None
    found = reader(field)
    if field.problems:
        raise NotPlain
    return found


# What is found is nobody's to change: `pod_requests` and `dict` make others of it.
_kept = lru_cache(_KEPT)(_found)
