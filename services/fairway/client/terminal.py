"""Answers on a terminal: tables, the why and the story. Text from outside cannot move the cursor or change colours.

`console()` writes colours only to a terminal and honours NO_COLOR; what goes to a pipe is never cut or wrapped.
"""

import re
from collections.abc import Sequence
from typing import IO

import msgspec
from rich.console import Console
from rich.text import Text

from fairway.domain.held_object import STATE
from fairway.domain.job import ENDED
from fairway.explain.story import Line, Story, Why
from fairway.explain.wording import clock, moment, span

# C0 and C1 controls, and the marks that turn the direction of text (Unicode TR 36, 2.6).
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONGEST = 2_000
# Of what is held on the hub: the id is that of its job to come, or its uid.
_NO_JOB = "no job yet, id {}"
# The last of these steps is the end of a job that has ended.
_ENDS = (*(one.value for one in ENDED), "lost")
_STATES = {
    "succeeded": "green",
    "running": "green",
    "failed": "red",
    "rejected": "red",
    "lost": "red",
    "queued": "yellow",
    "held": "yellow",
    "cancelled": "magenta",
}


def console(file: IO[str] | None = None) -> Console:
    return Console(file=file, soft_wrap=True, highlight=False, markup=False, emoji=False)


def clean(text: object) -> str:
    """Printable, on one line, and not endless."""
    shown = _UNPRINTABLE.sub(lambda found: f"\\x{ord(found.group()):02x}", str(text))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}... ({len(shown) - _LONGEST} more)"


def json_text(value: object) -> str:
    """Indented JSON in which nothing moves the cursor either: what JSON leaves as it is, is escaped."""
    plain = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    lines = (_UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", line) for line in plain.split("\n"))
    return "\n".join(lines)


def render_table(columns: Sequence[str], rows: Sequence[Sequence[object]], styled: str = "STATE") -> Text:
    """Columns as wide as they must be, two spaces apart; the column `styled` in the colour of its state."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(column), *(len(row[i]) for row in cells), 0) for i, column in enumerate(columns)]
    text = Text()
    text.append("  ".join(map(str.ljust, columns, widths)).rstrip() + "\n", "bold")
    for row in cells:
        for i, cell in enumerate(row):
            last = i == len(row) - 1
            style = _STATES.get(cell.lower(), "") if columns[i] == styled else ""
            text.append(cell if last else f"{cell.ljust(widths[i])}  ", style)
        text.append("\n")
    return text


def render_why(answer: Why) -> Text:
    text = Text()
    text.append(f"{clean(answer.where)}\n", "bold")
    text.append(f"  {answer.reason}", "red" if answer.state in ("failed", "rejected") else "yellow")
    text.append(f"  {clean(answer.because)}\n")
    _block(text, "What would move it", [*answer.moves, answer.timer])
    _block(
        text, "Clusters", [f"{one.cluster}{' (chosen)' if one.chosen else ''}: {one.text}" for one in answer.clusters]
    )
    _block(text, "Before", answer.before)
    job = f"job {clean(answer.job)}, attempt {answer.attempt}"
    if answer.state == STATE:
        job = _NO_JOB.format(clean(answer.job))
    text.append(f"\n{job}, as of {moment(answer.now)}\n", "dim")
    return text


def _block(text: Text, title: str, lines: Sequence[str]) -> None:
    shown = [clean(line) for line in lines if line]
    if shown:
        text.append(f"\n{title}\n", "bold")
    for line in shown:
        text.append(f"  - {line}\n")


def render_story(story: Story) -> Text:
    text = Text()
    what = f"{story.kind} {story.tenant}/{story.name}".strip() if story.kind else story.job
    text.append(f"{clean(what)}: ", "bold")
    text.append(f"{story.state}", _STATES.get(story.state, ""))
    took = f", {span(_end(story) - story.lines[0].at)} in all" if story.lines else ""
    there = f" in attempt {story.attempt}{took} (job {clean(story.job)})"
    text.append(f" on the hub ({_NO_JOB.format(clean(story.job))})\n" if story.state == STATE else f"{there}\n")
    attempt = -1
    for line in story.lines:
        if line.attempt != attempt:
            attempt = line.attempt
            where = f"Attempt {attempt}" if attempt else "On the hub"
            text.append(f"\n{where}, {moment(line.at)}\n", "bold")
        _step(text, line)
    if story.missing:
        revisions = ", ".join(map(str, story.missing[:20]))
        text.append(f"\nThe record does not show revision {revisions} yet; ask again in a moment.\n", "yellow")
    return text


def _end(story: Story) -> int:
    """That of the job, where it has ended: a month later there may be a word of the keeper of manifests. Else the last
    step of it."""
    ends = [line.at for line in story.lines if line.what in _ENDS] if story.state in ENDED else []
    return ends[-1] if ends else story.lines[-1].at


def _step(text: Text, line: Line) -> None:
    text.append(f"  {clock(line.at)} ", "dim")
    text.append(f"{'+' + span(line.after):>12}  ", "dim")
    text.append(f"{line.what:<10} ", _STATES.get(line.what, "cyan"))
    text.append(f"{clean(line.sentence)}\n")
    for detail in line.details:
        text.append(f"{'':37}{clean(detail)}\n", "dim")
