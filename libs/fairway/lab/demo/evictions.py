"""What is told of jobs that had to make room, in the words of the commands that a user has for it."""

import msgspec
from rich.text import Text

from fairway.adapters.nats.bus import NatsBus
from fairway.client.failure import Failure
from fairway.client.terminal import render_story, render_why
from fairway.explain.story import Line, Story, Why
from fairway.lab.demo.scenario import Act, Scenario
from fairway.lab.demo.submitters import Submitters
from fairway.operate.evictions.read import told
from fairway.operate.evictions.table import rendered
from fairway.operate.evictions.told_evictions import EvictionFilter

# How a job waits and gets room. How it is placed then is as with every other job.
_STEPS = ("submitted", "blocked", "claimed", "nominated", "unclaimed", "running", "succeeded")
Titled = tuple[str, Text]


async def explained(scenario: Scenario, doors: Submitters, bus: NatsBus) -> list[Titled]:
    """Of each act with an eviction both sides; then all evictions."""
    found: list[Titled] = []
    for act in scenario.acts:
        found += await _both_sides(act, doors) if act.evicted else []
    return [*found, ("fairway evictions", rendered(await told(bus, EvictionFilter())))] if found else []


async def _both_sides(act: Act, doors: Submitters) -> list[Titled]:
    try:
        story = msgspec.convert(await doors.ask(act.claims, "story"), Story)
        why = msgspec.convert(await doors.ask(act.evicted, "why"), Why)
    except Failure as failure:
        return [(act.title, Text(f"{failure}\n", "red"))]
    return [
        (act.title, Text()),
        (f"fairway story {act.claims} (in part)", render_story(of_its_room(story))),
        (f"fairway why {act.evicted}", render_why(why)),
    ]


def of_its_room(story: Story) -> Story:
    """The story without the other steps; each is so long after the one that is told before it."""
    lines: list[Line] = []
    for line in story.lines:
        if line.what in _STEPS:
            after = line.at - lines[-1].at if lines else 0
            lines.append(msgspec.structs.replace(line, after=after))
    return msgspec.structs.replace(story, lines=tuple(lines))
