"""A fleet that is scraped while something is done to it: which alerts that makes fire, and what their pages tell."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from tests.faults.arena.scene import FOUR, Scene
from tests.support.alerting import runbooks
from tests.support.alerting.promtool import Expected, judged
from tests.support.alerting.rules import ALERTS, RULES, named
from tests.support.alerting.scraped import INTERVAL, Scrapes

# The gateway in a process of its own, by which commands ask.
GATEWAY = "gateway"
GROUPS = ((GATEWAY,), *FOUR)
_SECONDS = {"s": 1, "m": 60, "h": 3_600}


class Watched:
    """`quiet` scrapes were taken before anything was done."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.scrapes = Scrapes(lambda: {name: one.said["metrics"] for name, one in scene.arena.processes.items()})
        self.quiet = 0

    async def some(self, count: int) -> None:
        enough = self.scrapes.count + count
        await self.scene.until(lambda: self.scrapes.count >= enough, f"{count} more scrapes")

    @property
    def services(self) -> list[dict[str, str]]:
        """Labels of every stage that was ready before anything was done."""
        return [{"service": name} for name in sorted(self.scrapes.labelled("fairway_ready", "service"))]

    async def shows(self, name: str, value: float, **labels: str) -> None:
        """Until all series of these labels have this value."""
        last = self.scrapes.last
        await self.scene.until(lambda: {*last(name, **labels)} == {value}, f"{name} {labels} is {value}")

    async def exceeds(self, name: str, value: float, **labels: str) -> None:
        """Until all series of these labels are above this value."""
        last = self.scrapes.last
        await self.scene.until(lambda: min(last(name, **labels), default=0) > value, f"{name} {labels} exceeds {value}")

    async def told(self, alert: str, process: str = GATEWAY, *commands: str) -> str:
        """What the commands of its page say now, or these. Of a single process they ask this one."""
        arena = self.scene.arena
        folder = arena.dir / "operator"
        folder.mkdir(exist_ok=True)
        where = {"FAIRWAY_URL": arena.http, "FAIRWAY_TOKEN_FILE": str(arena.token_file)}
        child = arena.processes[process]
        settings = {**arena.environment(), **where, "METRICS": child.said["metrics"], "LOG": str(child.log)}
        every = commands or runbooks.commands(runbooks.pages()[alert])
        said = [await asyncio.to_thread(runbooks.run, folder, one, settings) for one in every]
        assert said, f"the page of {alert} has no command"
        return "\n".join(said)

    def wrong(self, alert: str, *fires: Mapping[str, str]) -> str:
        """What promtool finds if the alert does not fire with these labels alone, once the last scrape has lasted for
        as long as it asks, or fired before anything was done."""
        lasting = _seconds(ALERTS[alert].get("for", "0s")) + 60
        series = self.scrapes.series(asked(alert), lasting, self.quiet - 1)
        expected = [
            Expected(alert, f"{self.quiet - 1}s", ()),
            Expected(alert, f"{self.scrapes.count + lasting - 30}s", tuple(dict(one) for one in fires)),
        ]
        return judged(self.scene.arena.dir, series, INTERVAL, expected)


def asked(alert: str) -> set[str]:
    """The metrics behind it, also by rules that record."""
    names = named(ALERTS[alert]["expr"])
    recorded = {rule["record"]: rule["expr"] for rule in RULES if "record" in rule}
    behind = set().union(*(named(recorded[one]) for one in names & set(recorded)))
    return (names - set(recorded)) | behind


def _seconds(duration: str) -> int:
    return sum(int(count) * _SECONDS[unit] for count, unit in re.findall(r"(\d+)([smh])", duration))


@asynccontextmanager
async def watching(scene: Scene) -> AsyncIterator[Watched]:
    """Scraped each second as long as this lasts, and some times before anything is done."""
    watched = Watched(scene)

    async def on() -> None:
        while True:
            await watched.scrapes.take()
            await asyncio.sleep(1.0)

    task = asyncio.create_task(on())
    try:
        await watched.some(5)
        watched.quiet = watched.scrapes.count
        yield watched
    finally:
        task.cancel()
        await asyncio.wait((task,))
