"""What an audit found, in sentences or as JSON."""

from collections.abc import Iterator
from typing import Any

import msgspec
import typer

from fairway.audit.evictions.claims import EvictionFigures
from fairway.audit.store_drift import Drift
from fairway.client.terminal import clean, json_text
from fairway.explain.wording import many
from fairway.operate.audit.verify import Audit

# What is asked for without the word of a door.
_DOORS = {"": "by nobody that a door names", "http": "over HTTP", "hub": "on the hub", "bus": "on the bus"}
# In sentences; all of it is in the JSON.
_MOST = 50


def show(audit: Audit, output: str) -> None:
    if output:
        typer.echo(json_text({**msgspec.to_builtins(audit), "ok": audit.ok}))
        return
    for line in lines(audit):
        typer.echo(clean(line))


def lines(audit: Audit) -> Iterator[str]:
    first, second = audit.states
    yield f"record   {many(audit.messages, 'event')} up to message {audit.last}, {many(audit.jobs, 'job')}"
    same = "twice the same" if first == second else f"and then {second}: a replay is not repeatable"
    yield f"replay   state {first}, {same}"
    yield f"store    {many(audit.keys, 'key')}, {many(len(audit.drift), 'difference')}"
    yield from map(difference, audit.drift[:_MOST])
    if audit.unsettled:
        yield f"         {many(len(audit.unsettled), 'key')} changed too fast to be compared; run it again"
    if audit.asked:
        yield f"asked    {', '.join(f'{count} {_DOORS.get(door, door)}' for door, count in audit.asked.items())}"
    if audit.evictions.claims:
        yield from _evictions(audit.evictions)
    yield f"rules    {many(len(audit.breaches), 'breach').replace('breachs', 'breaches')}"
    for one in audit.breaches[:_MOST]:
        yield f"         {one.rule}: job {one.job or '-'}, message {one.sequence}: {one.text}"


def _evictions(found: EvictionFigures) -> Iterator[str]:
    yield f"claims   {', '.join(f'{count} {end}' for end, count in found.claims.items())}"
    evicted = ", ".join(f"{count} by {right}" for right, count in found.evicted.items())
    vain = ", ".join(f"{count} for claims that ended {end}" for end, count in found.wasted.items())
    yield f"evicted  {evicted or 'nobody'}; in vain {vain or 'nobody'}; one job {found.most} times at most"


def difference(one: Drift) -> str:
    where = f"         {one.table} {one.key}"
    if one.record is None and one.store is not None:
        return f"{where}: in the store, and not by the record"
    if one.store is None and one.record is not None:
        return f"{where}: by the record, and not in the store"
    revs = f" revision {one.store} in the store, {one.record} by the record;" if one.record != one.store else ""
    fields = "; ".join(
        f"{name or 'value'} is {_short(there)}, and {_short(made)} by the record"
        for name, (made, there) in one.fields.items()
    )
    return f"{where}:{revs} {fields}".rstrip("; ")


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:80]}..."
