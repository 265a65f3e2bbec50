"""docs/preemption.md shows what `fairway why` prints: the cases of the page are played, and looked for on it."""

import re
from collections.abc import AsyncIterator

import pytest_asyncio
import yaml
from msgspec.structs import replace

from fairway.client.terminal import render_why
from fairway.explain.why import why
from fairway.queue.position import answer
from fairway.wire.asks import QueueAsk
from tests.paths import ROOT
from tests.scenarios.evictions.tenants import classes, slowly, submit
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, running, runs

# What differs from case to case: times, how long it is until then, the names of claims.
_PASSING = re.compile(r"\d\d:\d\d:\d\dZ|\(in [^)]*\)|after [\d. mins]+:|claim-\w{8}")
_EXAMPLE = re.search(r"^```yaml\n(.*?)^```", (ROOT / "docs/quota-and-queues.md").read_text(), re.MULTILINE | re.DOTALL)


def plain(text: str) -> str:
    return _PASSING.sub("#", text)


PAGE = plain((ROOT / "docs/preemption.md").read_text()).splitlines()


@pytest_asyncio.fixture
async def fleet() -> AsyncIterator[Fleet]:
    """One cluster with two nodes of eight GPUs, under the tree of the page of quotas."""
    assert _EXAMPLE is not None
    async with running(west=(8, 8)) as found:
        found.configure("ElasticQuotaTree", "fleet", yaml.safe_load(_EXAMPLE[1]))
        classes(found, high=10_000, normal=1_000)
        never = {"value": 100, "preemptionPolicy": "Never", "metadata": {"name": "night"}}
        found.configure("PriorityClass", "night", never)
        yield found
        assert found.findings().violations == ()


def told(fleet: Fleet, job: str) -> list[str]:
    """What is printed of it but for where it waits: its reason, then whatever has a dash before it."""
    now = fleet.clock.now()
    text = render_why(why(fleet.jobs()[job], answer(fleet.queues[-1], QueueAsk(job), now), now)).plain
    return [line for line in plain(text).splitlines()[1:] if line.startswith("  ")]


def on_page(fleet: Fleet, job: str, code: str, *moves: str) -> None:
    """The reason stands on the page, and of what would move the job what begins so."""
    reason, *others = told(fleet, job)
    assert reason.startswith(f"  {code}  ")
    shown = [next(line for line in others if line.startswith(f"  - {move}")) for move in moves]
    known = [line for line in PAGE if line.startswith("  ")]
    assert [line for line in (reason, *shown) if not any(fits(line, one) for one in known)] == []


def fits(line: str, shown: str) -> bool:
    """What each cluster lacks is left out on the page."""
    begins, cut, ends = shown.partition("...")
    return line == shown if not cut else line.startswith(begins) and line.endswith(ends)


async def borrowing(fleet: Fleet) -> str:
    """Nothing is free: `speech` has twelve GPUs, of which the last job has borrowed four, and `vision` four."""
    for at in range(3):
        last = await submit(fleet, f"asr-{at}", 1, 4, namespace="team-speech")
    await submit(fleet, "seg-0", 1, 4, namespace="team-vision", priority="normal")
    return last


async def test_who_waits_claims_and_is_nominated_and_who_makes_room(fleet: Fleet) -> None:
    borrowed = await borrowing(fleet)
    fleet.loops["global-scheduler"].cancel()
    slowly(fleet, 30)
    mine = await submit(fleet, "seg-1", 1, 4, namespace="team-vision")
    await fleet.quiet(32)
    on_page(fleet, mine, "WaitingForQuota", "Others are evicted for it.", "Whom to evict")
    fleet.start("global-scheduler")
    await fleet.quiet(1)
    on_page(fleet, mine, "WaitingForEvictions", "Those who leave", "Its claim on west ends")
    on_page(fleet, borrowed, "WaitingForRemoval")
    await fleet.quiet(40)
    on_page(fleet, borrowed, "WaitingForQuota", "Attempt 1 in west ended")


async def test_for_whom_nobody_has_to_go(fleet: Fleet) -> None:
    for at in range(4):
        last = await submit(fleet, f"asr-{at}", 1, 4, namespace="team-speech")
    on_page(fleet, last, "WaitingForQuota")
    await submit(fleet, "seg-0", 1, 4, namespace="team-vision")
    night = await submit(fleet, "seg-1", 1, 4, namespace="team-vision", priority="night")
    await fleet.quiet(40)
    on_page(fleet, night, "WaitingForQuota")


async def test_for_whom_nobody_was_evicted(fleet: Fleet) -> None:
    """A job of `vision` has ended; those of `speech` that are guaranteed have half a node each."""
    await submit(fleet, "asr-0", 1, 4, namespace="team-speech")
    fleet.plays["seg-0"] = [runs(5_000)]
    await fleet.submit("seg-0", 1, 4, namespace="team-vision")
    for at in (1, 2):
        await fleet.quiet(1)
        await submit(fleet, f"asr-{at}", 1, 4, namespace="team-speech")
    await fleet.quiet(10)
    large = await submit(fleet, "large", 1, 8, namespace="team-vision")
    await fleet.quiet(34)
    on_page(fleet, large, "WaitingForQuota", "Others are asked for room again")


async def test_whose_victims_do_not_end(fleet: Fleet) -> None:
    """Nobody takes them out of the member, whose API does not answer: its agent still reports."""
    await borrowing(fleet)
    fleet.clusters["west"].away = True
    mine = await submit(fleet, "seg-1", 1, 4, namespace="team-vision")
    for _ in range(300):
        await fleet.quiet(1)
        if (claim := fleet.jobs()[mine].claim) is not None and not claim.open:
            break
    on_page(fleet, mine, "WaitingForRoom", "See what still runs there.", "Others are asked for room again")
    await fleet.quiet(34)
    on_page(fleet, mine, "WaitingForRoom", "See what still runs there.")


async def test_whose_kept_room_others_have_taken(fleet: Fleet) -> None:
    await borrowing(fleet)
    slowly(fleet, 5)
    mine = await submit(fleet, "seg-1", 1, 4, namespace="team-vision")
    await fleet.quiet(33)
    agent = fleet.agents["west"]
    agent.nodes = {name: replace(node, used={GPU: 4}) for name, node in agent.nodes.items()}
    await agent.report(full=True)
    await fleet.quiet(12)
    on_page(fleet, mine, "WaitingForRoom", "See what runs on n1")


async def test_who_makes_room_for_a_higher_priority(fleet: Fleet) -> None:
    notice = {"fairway.io/evict-notice": "20s"}
    for at in range(2):
        last = await submit(fleet, f"seg-{at}", 1, 4, namespace="team-vision", priority="normal", annotations=notice)
        await submit(fleet, f"asr-{at}", 1, 4, namespace="team-speech")
    await fleet.quiet(60)
    await submit(fleet, "urgent", 1, 4, namespace="team-vision", priority="high")
    await fleet.quiet(12)
    on_page(fleet, last, "WaitingForRemoval")
