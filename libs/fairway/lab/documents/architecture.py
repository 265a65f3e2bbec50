"""`python -m fairway.lab.documents.architecture`: writes what docs/architecture.md has from the code: the rooms in
their layers, the way of one job through them, and the folders of every room. The words around these parts are people's.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer
from msgspec import structs

from fairway.lab.documents.flow_tables import hearers, names
from fairway.lab.documents.generated_blocks import filled, table
from fairway.lab.documents.message_senders import made_by
from fairway.lab.documents.rooms import CodeRoom, Folder, layers, rooms
from fairway.wire import flow, subjects
from fairway.wire.subjects import FlowRow

PAGE = Path("docs/architecture.md")
WAY = ("submitted", "admitted", "queue", "dequeued", "placed", "reserved", "dispatched", "running")
# Nobody needs to know more exactly how large a room is, and most changes leave the page as it is.
_ROUND = 100
_SIZE = re.compile(r"\| \d+ \| [\d,]+ \|$", re.MULTILINE)


def page(root: Path) -> str:
    there = rooms(root)
    inward = [there[name] for layer in reversed(layers(root)) for name in layer]
    way, turns = steps()
    parts = {
        "layers": f"```mermaid\n{diagram(layers(root), there)}```\n",
        "rooms": _rooms(inward),
        "way": _steps(root, way),
        "turns": _steps(root, turns),
        "folders": _folders(inward),
    }
    return filled((root / PAGE).read_text("utf-8"), parts)


def steps() -> tuple[list[FlowRow], list[FlowRow]]:
    """The way of a job, each step said by who hears the one before; and all else that is said of jobs."""
    jobs = {row.name: row for row in flow.FLOW if row.stream == subjects.JOBS and row.name != "rebuild"}
    way = [jobs[WAY[0]]]
    for name in WAY[1:]:
        heard = {one.service for one in flow.hearers(way[-1])}
        way.append(structs.replace(jobs[name], says=tuple(who for who in jobs[name].says if who in heard)))
    first = {row.name: row.says for row in way}
    left = ((row, tuple(who for who in row.says if who not in first.get(row.name, ()))) for row in jobs.values())
    return way, [structs.replace(row, says=says) for row, says in left if says]


def without_sizes(text: str) -> str:
    """What has to be as the code is: sizes may be of some time ago."""
    return _SIZE.sub("", text)


def diagram(stack: Iterable[Sequence[str]], there: Mapping[str, CodeRoom]) -> str:
    lines = ["flowchart TD"]
    for number, layer in enumerate(stack):
        lines += [f'  subgraph layer{number}[" "]', *(f"    {name}" for name in layer), "  end"]
    uses = {name: room.uses for name, room in there.items()}
    lines += [f"  {name} --> {used}" for layer in stack for name in layer for used in needed(name, uses)]
    return "".join(f"{line}\n" for line in lines)


def needed(name: str, uses: Mapping[str, Sequence[str]]) -> list[str]:
    """The rooms that it uses and that none of the others which it uses leads to."""
    further = {beyond for used in uses[name] for beyond in _reached(used, uses)}
    return [used for used in uses[name] if used not in further]


def _reached(name: str, uses: Mapping[str, Sequence[str]]) -> set[str]:
    found = set(uses[name])
    return found.union(*(_reached(used, uses) for used in found))


def _rooms(found: Iterable[CodeRoom]) -> str:
    rows = [
        (_link(room.folder), room.folder.purpose, room.folder.owns, ", ".join(room.uses), *_size(room))
        for room in found
    ]
    return table(("room", "what it is for", "what it owns", "imports", "files", "lines"), rows)


def _size(room: CodeRoom) -> tuple[str, str]:
    return str(room.files), f"{max(1, round(room.lines / _ROUND)) * _ROUND:,}"


def _steps(root: Path, rows: Iterable[FlowRow]) -> str:
    everybody = (subjects.GATEWAY, subjects.HUB, *subjects.LOOPS, subjects.KEEPER)
    made = {service: made_by(root, service) for service in everybody}
    cells = [
        (f"`{row.name}`", row.meaning, _decided(row, made), names(hearers(row)) or "nobody: it is for the record")
        for row in rows
    ]
    return table(("message", "what it says", "who says it, and where that is decided", "who hears it"), cells)


def _decided(row: FlowRow, made: Mapping[str, Mapping[str, set[str]]]) -> str:
    said = []
    for service in row.says:
        files = [path for path, found in made[service].items() if row.name in found]
        # Each by its name below the folder of its service.
        said.append(f"{service}: " + ", ".join(f"[{path.split('/', 3)[3]}](../{path})" for path in files))
    return "; ".join(said)


def _folders(found: Iterable[CodeRoom]) -> str:
    rows = [(_link(part), part.purpose) for room in found for part in room.parts]
    return table(("folder", "what is in it"), rows)


def _link(folder: Folder) -> str:
    return f"[{folder.path.split('/fairway/')[1]}](../{folder.path})"


def write(root: Path) -> None:
    (root / PAGE).write_text(page(root), "utf-8")


if __name__ == "__main__":
    write(Path())
    typer.echo(f"wrote {PAGE}")
