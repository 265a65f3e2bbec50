"""The watcher sees every member that can be seen, whoever else is away."""

import asyncio
from typing import Any

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.decision import Call
from fairway.runtime.views.members import Members
from fairway.watcher.missing import Listed
from fairway.watcher.object_checks import LOOK, ObjectLook
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.watcher.object_owner import Observed
from fairway.watcher.service import MemberWatches
from fairway.workloads.member_copy import job_labels
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

KIND = "Job.batch/v1"
KEY = b"a key"


class Box:
    """What the watcher puts before its service."""

    def __init__(self) -> None:
        self.line: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, message: Any) -> None:
        self.line.put_nowait(message)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(0.01)

    async def room(self) -> None:
        return None

    async def next(self) -> Any:
        return await asyncio.wait_for(self.line.get(), 5)


async def test_a_member_that_is_away_hides_no_other_and_is_seen_when_it_is_back() -> None:
    clock = ManualClock()
    away = MemoryCluster("away", clock, [KIND])
    there = MemoryCluster("there", clock, [KIND])
    away.away = True
    box = Box()
    members = Members({"away": away, "there": there})
    looking = asyncio.create_task(MemberWatches(members, ObjectDoubts(MemoryBus(clock), members, KEY), KEY)(box))
    assert await box.next() == Listed(cluster="there", kind=KIND, keys=frozenset())
    away.away = False
    assert await box.next() == Listed(cluster="away", kind=KIND, keys=frozenset())
    await away.apply(KIND, {"metadata": {"name": "a", "namespace": "team-a", "labels": job_labels("a-1", 2)}})
    seen = await box.next()
    looking.cancel()
    await asyncio.gather(away.close(), there.close())
    assert isinstance(seen, Observed)
    assert (seen.job, seen.attempt, seen.cluster, seen.gone) == ("a-1", 2, "away", False)


async def test_a_question_about_a_member_that_has_left_is_answered_and_nothing_is_known() -> None:
    clock = ManualClock()
    asked = Call(LOOK, "gone", "a-1", 2, ObjectLook(KIND, "team-a", "a", ""))
    answer = await ObjectDoubts(MemoryBus(clock), Members({}), KEY)(asked)
    assert (answer.ok, answer.text) == (False, "gone is no member of this fleet now")


async def test_an_object_of_which_a_label_is_changed_is_told_as_gone() -> None:
    clock = ManualClock()
    member = MemoryCluster("m", clock, [KIND])
    box = Box()
    members = Members({"m": member})
    looking = asyncio.create_task(MemberWatches(members, ObjectDoubts(MemoryBus(clock), members, KEY), KEY)(box))
    assert await box.next() == Listed(cluster="m", kind=KIND, keys=frozenset())
    made = await member.apply(KIND, {"metadata": {"name": "a", "namespace": "team-a", "labels": job_labels("a-1", 2)}})
    assert not (await box.next()).gone
    await member.patch(KIND, "team-a", "a", {"metadata": {"uid": made.uid, "labels": {"fairway.io/attempt": "two"}}})
    seen = await box.next()
    looking.cancel()
    await member.close()
    assert (seen.job, seen.attempt, seen.gone) == ("a-1", 2, True)
