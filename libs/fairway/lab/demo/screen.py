"""What is seen while the demo plays: a picture that changes on a terminal, a line for each change elsewhere."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fairway.domain.job import ENDED, Job, State
from fairway.lab.demo.recorded_events import Record
from fairway.lab.demo.scenario import Act, Role, Scenario
from fairway.wire import jobs as wire

_PER_SECOND = 8
# Acts of more jobs than this show only how each stands, not where.
_FEW = 4
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")
# State -> (sign, sign in ASCII, colour).
_SIGNS = {
    State.SUCCEEDED: ("✓", "ok", "green"),
    State.FAILED: ("✗", "failed", "red"),
    State.REJECTED: ("✗", "rejected", "magenta"),
    State.CANCELLED: ("⊘", "cancelled", "magenta"),
    State.RUNNING: ("▶", "running", "cyan"),
    State.QUEUED: ("…", "waits", "yellow"),
}
_ON_ITS_WAY = ("→", "starts", "cyan")
_CLAIMS = ("claimed", "nominated", "unclaimed", "evicted")
_TOLD = ("submitted", "rejected", "blocked", "running", *_CLAIMS, "succeeded", "failed", "lost", "cancelled")


class Screen:
    def __init__(self, scenario: Scenario, record: Record, began: float, out: Console | None = None) -> None:
        self._scenario = scenario
        self._record = record
        self._began = began
        self._out = out or Console(highlight=False, emoji=False)
        self._live = Live(console=self._out, auto_refresh=False, transient=True) if self._out.is_terminal else None
        self.doing = ""

    def say(self, doing: str) -> None:
        """What goes on before and after the acts."""
        self.doing = doing
        if self._live is None:
            self._print(doing)

    def _print(self, text: str) -> None:
        self._out.print(f"{time.monotonic() - self._began:6.1f} s  {text}", soft_wrap=True, markup=False)

    @contextlib.asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        with self._live or contextlib.nullcontext():
            task = asyncio.create_task(self._draw(self._live) if self._live is not None else self._tell())
            try:
                yield
            finally:
                task.cancel()
                await asyncio.wait([task])
                while self._live is None and not self._record.news.empty():
                    self._line(*self._record.news.get_nowait())

    async def _draw(self, live: Live) -> None:
        while True:
            live.update(self.picture(), refresh=True)
            await asyncio.sleep(1 / _PER_SECOND)

    async def _tell(self) -> None:
        while True:
            self._line(*await self._record.news.get())

    def _line(self, name: str, message: wire.Message) -> None:
        why = getattr(message, "why", None)
        returned = isinstance(message, wire.Queue) and why is not None
        if message.verb not in _TOLD and not returned:
            return
        where = getattr(message, "cluster", "")
        parts = ["waits again" if returned else message.verb, *([f"in {where}"] if where else [])]
        parts += [f"({why.code.value})"] if why else []
        parts += [f"({', '.join(one.value for one in message.causes)})"] if isinstance(message, wire.Claimed) else []
        parts += [f"attempt {message.attempt}"] if message.attempt > 1 else []
        self._print(f"{name:<34} {' '.join(parts)}")

    def picture(self) -> RenderableType:
        jobs = {role.job: self._record.job(role.job) for role in self._scenario.roles}
        done = sum(1 for job in jobs.values() if job is not None and job.ended)
        head = Table.grid(padding=(0, 2))
        doing = self.doing or f"{done} of {len(jobs)} jobs have ended"
        words = Text(f"{time.monotonic() - self._began:3.0f} s  {doing}", "bold")
        head.add_row(words, ProgressBar(total=len(jobs), completed=done, width=30))
        lines: list[RenderableType] = [head, Text()]
        for act in self._scenario.acts:
            lines.append(self._act(act, jobs))
        return Group(*lines)

    def _act(self, act: Act, jobs: dict[str, Job | None]) -> RenderableType:
        mine = [jobs[role.job] for role in act.jobs]
        over = all(job is not None and job.ended for job in mine)
        begun = any(job is not None for job in mine)
        sign = self._sign("✓", "ok") if over else self._sign("▶", ">") if begun else " "
        title = Text.assemble((f"{sign} ", "green" if over else "cyan"), (act.title, "" if begun else "dim"))
        words = len(act.jobs) <= _FEW
        text = Text("   ").join(self._job(role, jobs[role.job], words) for role in act.jobs)
        return Group(title, Padding(text, (0, 0, 0, 4)))

    def _job(self, role: Role, job: Job | None, words: bool) -> Text:
        name = role.job.partition("/")[2]
        if job is None:
            return Text(name, "dim")
        sign, plain, style = _SIGNS.get(job.state, _ON_ITS_WAY)
        # No break inside: a sign stays with its name when a line is wrapped.
        text = Text(f"{self._sign(sign, plain)}\N{NO-BREAK SPACE}{name}", style)
        if words and (facts := _facts(job)):
            text.append(f" {facts}", "dim")
        return text

    def _sign(self, sign: str, plain: str) -> str:
        return plain if self._out.options.ascii_only else sign


def _facts(job: Job) -> str:
    """Where it is, or what it waits for."""
    if job.state is State.QUEUED:
        return _WORDS.sub(" ", job.why.code.value).lower() if job.why else "in line"
    attempt = f", attempt {job.attempt}" if job.attempt > 1 else ""
    where = f"in {job.cluster}" if job.cluster and job.state is not State.CANCELLED else ""
    return where + attempt if job.state not in ENDED or where else ""
