"""Lists of what a fleet has, as a table, JSON, YAML or names; once, or with every change after it."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import typer
import yaml
from msgspec import Struct
from rich.text import Text

from fairway.adapters.system_clock import SystemClock
from fairway.cli import tables
from fairway.client.api import Api
from fairway.client.failure import NOT_FOUND, USAGE, Failure
from fairway.client.hub_address import namespace_of
from fairway.client.terminal import console
from fairway.gateway.http.answers import ClusterRow, JobRow, QueueRow
from fairway.gateway.quota_rows import QuotaRow

Rows = list[dict[str, Any]]
_LOOK_S = 0.5
_OUTPUTS = ("", "wide", "json", "yaml", "name")
# What changes without anything having happened.
_PASSING = frozenset({"age"})


class ListOptions(Struct, frozen=True):
    what: str
    name: str = ""
    namespace: str = ""
    output: str = ""


class Listing(Struct, frozen=True):
    """How one kind of thing is listed: `key` names a row, `render` makes a table of rows (now, wide)."""

    row: type[Struct]
    key: str
    render: Callable[[Sequence[Any], int, bool], Text]


_LISTINGS = {
    "jobs": Listing(JobRow, "id", tables.render_jobs),
    "queues": Listing(QueueRow, "name", lambda rows, now, wide: tables.render_queues(rows, now)),
    "quota": Listing(QuotaRow, "path", lambda rows, now, wide: tables.render_quota(rows)),
    "clusters": Listing(ClusterRow, "name", lambda rows, now, wide: tables.render_clusters(rows, wide)),
}
_SINGULAR = {"job": "jobs", "queue": "queues", "quotas": "quota", "cluster": "clusters"}


def show(asked: ListOptions, api: Api, watch: bool) -> None:
    """Prints; with `watch` until it is interrupted. Raises Failure."""
    what = _SINGULAR.get(asked.what, asked.what)
    if what not in _LISTINGS:
        raise Failure(USAGE, f"{asked.what} cannot be listed", f"use {', '.join(_LISTINGS)}")
    if asked.output not in _OUTPUTS:
        raise Failure(USAGE, f"-o {asked.output} is not known", "use wide, json, yaml or name")
    if asked.namespace and what != "jobs":
        raise Failure(USAGE, f"{what} have no namespace", "leave -n out")
    asked = msgspec.structs.replace(asked, what=what)
    rows = _rows(api, asked)
    _print(asked, rows)
    while watch:
        time.sleep(_LOOK_S)
        before = rows
        rows = _rows(api, asked)
        _changes(asked, before, rows)


def _rows(api: Api, asked: ListOptions) -> Rows:
    if asked.what != "jobs":
        rows: Rows = api.get(f"/v1/{asked.what}")["items"]
        key = _LISTINGS[asked.what].key
        rows = [row for row in rows if asked.name in ("", row[key], row[key].rpartition("/")[2])]
        if asked.name and not rows:
            text = f"there is no {asked.name} among the {asked.what}"
            raise Failure(NOT_FOUND, text, f"`fairway get {asked.what}` lists them")
        return rows
    namespace = asked.namespace or namespace_of()
    rows = sorted(api.jobs(namespace), key=lambda row: (row["submitted_at"], row["id"]))
    if asked.name:
        wanted = api.find(asked.name, namespace)
        rows = [row for row in rows if row["id"] == wanted]
    return rows


def _print(asked: ListOptions, rows: Rows) -> None:
    whole = rows[0] if asked.name else {"items": rows}
    match asked.output:
        case "json":
            text = msgspec.json.format(msgspec.json.encode(whole)).decode()
        case "yaml":
            text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True).rstrip()
        case "name":
            text = "\n".join(row[_LISTINGS[asked.what].key] for row in rows)
        case _:
            console().print(_table(asked, rows), end="")
            return
    if text:
        typer.echo(text)


def _table(asked: ListOptions, rows: Rows) -> Text:
    listing = _LISTINGS[asked.what]
    made = [msgspec.convert(row, listing.row) for row in rows]
    return listing.render(made, SystemClock().now(), asked.output == "wide")


def _changes(asked: ListOptions, before: Rows, rows: Rows) -> None:
    """The rows that differ, in columns as wide as those of the whole list."""
    key = _LISTINGS[asked.what].key
    known = {row[key]: _lasting(row) for row in before}
    changed = [index for index, row in enumerate(rows) if known.get(row[key]) != _lasting(row)]
    if asked.output in ("json", "yaml"):
        for index in changed:
            row = rows[index]
            typer.echo(msgspec.json.encode(row).decode() if asked.output == "json" else yaml.safe_dump([row]))
    elif asked.output == "name":
        typer.echo("\n".join(rows[index][key] for index in changed), nl=bool(changed))
    elif changed:
        _print_lines(asked, rows, changed)


def _print_lines(asked: ListOptions, rows: Rows, changed: Sequence[int]) -> None:
    if asked.what == "quota":  # one row makes several lines
        console().print(Text("\n").join(_table(asked, [rows[index] for index in changed]).split("\n")[1:]))
        return
    lines = _table(asked, rows).split("\n")[1:]
    for index in changed:
        console().print(lines[index])


def _lasting(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _PASSING}
