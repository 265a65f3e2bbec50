"""What is said of the objects of a submission: one entry each, as JSON, as names, or as lines for a person."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairway.cli.manifests import Document
from fairway.client.terminal import clean
from fairway.domain.resources import describe
from fairway.explain.wording import many
from fairway.gateway.http.answers import PodSetAnswer, ReasonBody, bodies
from fairway.wire.reasons import Reason


class Entry(Struct, frozen=True, omit_defaults=True):
    """What is said of one object. `job` and `state` are there once a fleet has it. `warnings` are of what is taken."""

    accepted: bool
    kind: str
    name: str
    namespace: str = ""
    source: str = ""
    job: str = ""
    state: str = ""
    queue: str = ""
    cluster: str = ""
    pod_sets: tuple[PodSetAnswer, ...] | None = None
    gang_minimum: int | None = None
    priority_class: str | None = None
    policy: str = ""
    reasons: tuple[ReasonBody, ...] = ()
    warnings: tuple[str, ...] = ()


def entry(document: Document, reasons: Sequence[Reason] = (), **more: Any) -> Entry:
    head = (not reasons, document.kind, document.name, document.namespace, document.source)
    return Entry(*head, reasons=bodies(reasons), **more)


def taken(document: Document, accepted: Mapping[str, Any]) -> Entry:
    """Of a job that the gateway has accepted."""
    state = accepted.get("state", "submitted")
    queue = accepted.get("queue", "")
    return entry(document, job=accepted["job"], state=state, queue=queue, warnings=_warnings(accepted))


def set_on_fleet(document: Document, answer: Any) -> Entry:
    """Of a setting that the gateway has taken; an older one warns of nothing."""
    return entry(document, warnings=_warnings(answer))


def _warnings(answer: Any) -> tuple[str, ...]:
    said = answer.get("warnings") if isinstance(answer, dict) else None
    return tuple(map(str, said)) if isinstance(said, list) else ()


def reasons_of(problem: Mapping[str, Any]) -> tuple[ReasonBody, ...]:
    """Those of a problem document."""
    return tuple(msgspec.convert(reason, ReasonBody) for reason in problem.get("reasons", ()))


def refused(document: Document, problem: Mapping[str, Any], reasons: Sequence[ReasonBody]) -> Entry:
    """Of an object that the gateway has refused with this problem document."""
    job = str(problem.get("job", ""))
    return msgspec.structs.replace(entry(document), accepted=False, job=job, reasons=tuple(reasons))


def render(entries: Sequence[Entry], output: str) -> str:
    """`json`: a list of entries; `name`: the id of each job, or its kind and name; else a line or more for each."""
    if output == "json":
        return msgspec.json.format(msgspec.json.encode(entries)).decode()
    if output == "name":
        return "\n".join(one.job or f"{one.kind.lower()}/{one.name}" for one in entries if one.accepted)
    width = max((len(_title(one)) for one in entries), default=0)
    return "\n".join(line for one in entries for line in _lines(one, width))


def _title(one: Entry) -> str:
    if not one.kind:
        return one.source
    return f"{one.kind} {one.namespace}/{one.name}" if one.namespace else f"{one.kind} {one.name}"


def _lines(one: Entry, width: int) -> list[str]:
    word = one.state or ("accepted" if one.accepted else "refused")
    if one.accepted:
        head = f"{word:<9}  {_title(one):<{width}}  {_facts(one)}".rstrip()
        return [clean(line) for line in (head, *(f"           {warning}" for warning in one.warnings))]
    head = f"{word:<9}  {_title(one):<{width}}  {one.source if one.kind else ''}".rstrip()
    return [clean(line) for line in (head, *map(_reason, one.reasons))]


def _reason(one: ReasonBody) -> str:
    place = f"{one.field}: " if one.field else ""
    remedy = f"; {one.remedy}" if one.remedy else ""
    return f"           {place}{one.text}{remedy} [{one.code}]"


def _facts(one: Entry) -> str:
    facts = [f"job {one.job}"] if one.job else []
    facts += [f"in queue {one.queue}"] if one.queue and one.state == "queued" else []
    facts += [f"in {one.cluster}"] if one.cluster else []
    if one.pod_sets is not None:
        pods = sum(sets.count for sets in one.pod_sets)
        together = "all together" if (one.gang_minimum or 0) >= pods else f"at least {one.gang_minimum} together"
        sets = "; ".join(f"{sets.name} {sets.count} × ({describe(sets.requests)})" for sets in one.pod_sets)
        facts.append(f"{many(pods, 'pod')}, {together}: {sets}" if pods > 1 else f"1 pod: {sets}")
    facts += [f"class {one.priority_class}"] if one.priority_class else []
    return ", ".join(facts)
