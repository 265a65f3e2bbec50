"""Members come, change and go while others follow them."""

import asyncio

from fairway.runtime.cluster_port import Cluster
from fairway.runtime.views.members import Facts, Members
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster


def cluster(name: str) -> MemoryCluster:
    return MemoryCluster(name, ManualClock(), [])


class Diary:
    """What was started and ended, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def start(self, member: Cluster) -> None:
        self.lines.append(f"+{member.name}")
        try:
            await asyncio.Event().wait()
        finally:
            self.lines.append(f"-{member.name}")


async def following(members: Members, diary: Diary, facts: bool = False) -> asyncio.Task[None]:
    task = asyncio.create_task(members.follow(diary.start, facts))
    await settled()
    return task


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_what_is_done_for_a_member_begins_when_it_comes_and_ends_when_it_goes() -> None:
    members = Members({"a": cluster("a")})
    diary = Diary()
    task = await following(members, diary)
    members.put(cluster("b"))
    await settled()
    members.drop("a")
    await settled()
    assert diary.lines == ["+a", "+b", "-a"]
    task.cancel()
    await asyncio.wait([task])
    assert diary.lines == ["+a", "+b", "-a", "-b"]


async def test_another_cluster_of_the_same_name_is_begun_after_the_former_has_ended() -> None:
    members = Members({"a": cluster("a")})
    diary = Diary()
    task = await following(members, diary)
    members.put(cluster("a"))
    await settled()
    task.cancel()
    assert diary.lines == ["+a", "-a", "+a"]


async def test_other_facts_of_a_member_concern_only_those_who_asked_for_them() -> None:
    same = cluster("a")
    members = Members({"a": same})
    plain = Diary()
    keen = Diary()
    tasks = [await following(members, plain), await following(members, keen, facts=True)]
    members.put(same, Facts(cordoned=True))
    await settled()
    for task in tasks:
        task.cancel()
    assert (plain.lines, keen.lines) == (["+a"], ["+a", "-a", "+a"])


async def test_a_member_that_goes_and_comes_back_at_once_is_begun_anew() -> None:
    members = Members({"a": cluster("a")})
    diary = Diary()
    task = await following(members, diary)
    members.drop("a")
    members.put(cluster("a"))
    await settled()
    task.cancel()
    assert diary.lines == ["+a", "-a", "+a"]


async def test_what_fails_for_one_member_is_not_hidden() -> None:
    async def fail(member: Cluster) -> None:
        raise ValueError(member.name)

    try:
        await Members({"a": cluster("a")}).follow(fail)
    except* ValueError as failed:
        assert [str(one) for one in failed.exceptions] == ["a"]
    else:
        raise AssertionError("nobody heard of it")
