"""Dead letters on a terminal, or as JSON. What is in them came from anybody: it moves no cursor."""

from collections.abc import Sequence
from typing import Any

import msgspec
import typer
from msgspec import Struct
from rich.text import Text

from fairway.client.terminal import clean, console, json_text, render_table
from fairway.explain.wording import moment, sentence
from fairway.operate.dead_letters.retry import NOT_THERE, Done
from fairway.runtime.record.kept_letters import KeptLetter, LetterLine, message_in


def show_all(lines: Sequence[LetterLine], output: str) -> None:
    if output:
        _print({"items": lines})
        return
    columns = ["NUMBER", "SERVICE", "WHEN", "REASON", "SUBJECT", "JOB", "BYTES", "DIGEST", "MESSAGE"]
    rows = [_row(one) for one in lines]
    console().print(render_table(columns, rows), end="")


def _row(one: LetterLine) -> tuple[object, ...]:
    about = (one.number, one.service, moment(one.at), one.why.code.value, one.subject, one.job or "-")
    return (*about, one.size, one.sha256[:12], one.why.text)


class ShownLetter(Struct, frozen=True):
    """A letter with the bytes of its message, or with why they are `withheld`."""

    line: LetterLine
    data: bytes = b""
    withheld: str = ""

    @classmethod
    def of(cls, kept: KeptLetter) -> "ShownLetter":
        return cls(LetterLine.of(kept), kept.letter.data)


def show_one(shown: ShownLetter, output: str) -> None:
    line = shown.line
    data = shown.data
    if output:
        message = {"withheld": shown.withheld} if shown.withheld else message_in(data)
        _print({**msgspec.to_builtins(line), **message})
        return
    where = f"{line.subject}, message {line.sequence} of {line.stream}" if line.stream else line.subject
    text = Text(f"Letter {line.number} of {clean(line.service)}, {moment(line.at)}\n", "bold")
    text.append(f"  {line.why.code.value}", "red")
    text.append(f"  {clean(sentence(line.why.text))}\n")
    facts = {
        "do": line.why.remedy,
        "said on": where,
        "id": line.id,
        "job": line.job,
        "who": str(line.who or ""),
        "holds": _held(line, len(data) or line.size),
        "withheld": shown.withheld,
    }
    for name, value in facts.items():
        if value:
            text.append(f"  {name:<8}", "dim")
            text.append(f"{clean(value)}\n")
    text.append(_readable(data))
    console().print(text, end="")


def show_outcomes(outcomes: Sequence[Done], output: str) -> None:
    if output:
        _print({"items": outcomes})
        return
    for one in outcomes:
        why = f": {one.why.code.value}: {one.why.text}; {one.why.remedy}" if one.why else ""
        there = "there is no such letter" if one.done == NOT_THERE else one.done
        typer.echo(clean(f"letter {one.number}: {there}{why}"))
    if not outcomes:
        typer.echo("there is no such letter")


def _held(line: LetterLine, kept: int) -> str:
    cut = f", of which the first {kept} are kept" if line.size > kept else ""
    return f"{line.size} bytes{cut}, sha256 {line.sha256}" if line.size else ""


def _readable(data: bytes) -> str:
    """The message, every line indented and printable."""
    if not data:
        return ""
    try:
        lines = msgspec.json.format(data, indent=2).decode().splitlines()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        lines = [f"{len(data)} bytes that are no JSON: {data[:1_000]!r}"]
    return "\n" + "".join(f"  {_line(one)}\n" for one in lines)


def _line(text: str) -> str:
    """Printable like all else, and indented as it was."""
    plain = text.lstrip(" ")
    return " " * (len(text) - len(plain)) + clean(plain)


def _print(value: Any) -> None:
    typer.echo(json_text(value))
