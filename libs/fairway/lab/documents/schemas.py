"""`python -m fairway.lab.documents.schemas`: writes the wire down for people and programs that do not read Python.

One JSON Schema a message in proto/schema/v1, and from the flow table (wire/flow.py) proto/asyncapi.yaml and the tables
of proto/README.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer

from fairway.lab.documents import asyncapi, flow_tables
from fairway.lab.documents.generated_blocks import filled
from fairway.wire import flow
from fairway.wire.spec import NOTHING, Found

ROOT = Path("proto")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"
Json = dict[str, Any]


def messages() -> dict[str, type[msgspec.Struct]]:
    """Every message in JSON by its file name."""
    return {row.name: row.message for row in flow.FLOW if row.message is not None}


def tag_of(cls: type[msgspec.Struct]) -> str:
    return str(cls.__struct_config__.tag)


def schema_of(name: str, cls: type[msgspec.Struct]) -> Json:
    """The schema of one message, complete in itself. Unknown fields are allowed: a reader passes them over."""
    _, parts = msgspec.json.schema_components((_spelled_out(cls),), ref_template=_REF)
    body = parts.pop(cls.__name__)
    defs = {key: _tidy(parts[key]) for key in sorted(parts)}
    head = {"$schema": DIALECT, "$id": f"urn:fairway:wire:v1:{name}"}
    return {**head, **_tidy(body), **({"$defs": defs} if defs else {})}


def _spelled_out(cls: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """With the `Found` that a message carries as it was written."""
    written = [one.name for one in msgspec.structs.fields(cls) if one.default is NOTHING]
    if not written:
        return cls
    fields = [(name, Found | msgspec.UnsetType, msgspec.UNSET) for name in written]
    doc = {"__doc__": cls.__doc__}
    return msgspec.defstruct(
        cls.__name__, fields, bases=(cls,), namespace=doc, frozen=True, kw_only=True, tag=tag_of(cls)
    )


def _tidy(part: Json) -> Json:
    """Descriptions are docstrings: on one line, they do not change with their indentation."""
    if "description" in part:
        return {**part, "description": " ".join(part["description"].split())}
    return part


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Every generated file: its path below `root`, which is `proto/`, and its text."""
    for name, cls in messages().items():
        yield f"schema/v1/{name}.json", msgspec.json.format(msgspec.json.encode(schema_of(name, cls))).decode() + "\n"
    yield "asyncapi.yaml", asyncapi.page()
    yield "README.md", filled((root / "README.md").read_text("utf-8"), flow_tables.parts())


def write(root: Path) -> list[str]:
    """Writes all pages below `root` and removes schemas of messages that are no more; returns the paths."""
    made = dict(pages(root))
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    for old in (root / "schema/v1").glob("*.json"):
        if f"schema/v1/{old.name}" not in made:
            old.unlink()
    return list(made)


if __name__ == "__main__":
    typer.echo(f"wrote {len(write(ROOT))} files below {ROOT}/")
