"""The tables of proto/README.md: every message with who says and who hears it, and every durable consumer."""

from collections.abc import Iterable, Mapping

from fairway.lab.documents.generated_blocks import table
from fairway.wire import flow, subjects
from fairway.wire.subjects import FlowRow

_STAGES = "every stage"


def parts() -> Mapping[str, str]:
    """By the name of their markers."""
    jobs = [row for row in flow.FLOW if row.stream == subjects.JOBS]
    tenants = [row for row in flow.FLOW if row.stream == subjects.IN]
    others = [row for row in flow.FLOW if row not in jobs and row not in tenants]
    consumers = []
    for one in flow.CONSUMERS:
        heard = ", ".join(f"`{flow.row_of(message).name}`" for message in one.hears)
        consumers.append((f"`{one.name}`", one.service, flow.consumer(one.name)[0], heard))
    return {
        "jobs": _said(("verb", *_HEADS), ((row.name, row) for row in jobs)),
        "tenants": _said(("subject", *_HEADS), ((_subject(row), row) for row in tenants)),
        "others": _said(("subject", *_HEADS), ((_subject(row), row) for row in others)),
        "consumers": table(("consumer", "service", "stream", "hears"), consumers),
    }


_HEADS = ("who says it", "who hears it", "meaning")


def _said(heads: tuple[str, ...], rows: Iterable[tuple[str, FlowRow]]) -> str:
    return table(heads, ((f"`{first}`", names(row.says), names(hearers(row)), row.meaning) for first, row in rows))


def hearers(row: FlowRow) -> tuple[str, ...]:
    return (*(one.service for one in flow.hearers(row)), *row.follows)


def names(services: Iterable[str]) -> str:
    """A tenant is a client of its own; all seven stages are named as one."""
    found = ["a client of that tenant" if one == subjects.TENANT else one for one in dict.fromkeys(services)]
    if set(subjects.STAGES) <= set(found):
        found = [*(one for one in found if one not in subjects.STAGES), _STAGES]
    return ", ".join(found)


def _subject(row: FlowRow) -> str:
    return row.subject.replace("{", "<").replace("}", ">")
