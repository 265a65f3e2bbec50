"""Events that are said together: heard each for itself, once, in the order of each job, in memory and on real NATS."""

from fairway.adapters.system_clock import SystemClock
from fairway.runtime.ports import Bus, Delivery, Outgoing, Source
from tests.support.twins import consumed


def event(job: str, number: int, tenant: str = "many", verb: str = "queue") -> Outgoing:
    """One that may travel with others."""
    data = b'{"job":"%b","n":%d}' % (job.encode(), number)
    return Outgoing(f"{job}-{number}", f"fairway.job.{verb}.{tenant}", data, "fairway.job", order=job)


async def heard(source: Source, count: int) -> list[Delivery]:
    got: list[Delivery] = []
    while len(got) < count:
        got += await source.batch(100)
    return got


async def test_events_that_are_said_together_are_heard_each_for_itself_and_once(bus: Bus) -> None:
    words = [event(f"j{number}", 1) for number in range(200)]
    source = await consumed(bus, "JOBS", "many", ["fairway.job.queue.many"])
    await bus.publish(words)
    await bus.publish(words)  # as after a publish of which nobody knows what came of it
    got = await heard(source, 200)
    assert [(one.id, one.data) for one in got] == [(one.id, one.data) for one in words]
    assert got[-1].left == 0
    past = [(one.id, one.left) async for one in bus.history("JOBS", ["fairway.job.queue.many"])]
    assert [name for name, _ in past] == [one.id for one in words]
    await source.close()


async def test_a_message_says_when_it_was_stored_whenever_it_is_heard(bus: Bus) -> None:
    began = SystemClock().now()
    for count in (1, 3):
        await bus.publish([event(f"when{count}-{number}", 1, "when") for number in range(count)])
    ended = SystemClock().now()
    source = await consumed(bus, "JOBS", "when", ["fairway.job.queue.when"])
    got = await heard(source, 4)
    past = [one async for one in bus.history("JOBS", ["fairway.job.queue.when"])]
    assert [one.stored_at for one in got] == [one.stored_at for one in past]
    assert all(began - 1_000 <= one.stored_at <= ended + 1_000 for one in got), "by the clock of this machine"
    await source.close()


async def test_a_bundle_comes_again_until_all_of_it_is_acknowledged(bus: Bus) -> None:
    source = await consumed(bus, "JOBS", "again", ["fairway.job.queue.again"])
    await bus.publish([event(f"j{number}", 1, "again") for number in range(3)])
    first, second, third = await heard(source, 3)
    source.ack([first, third])
    source.later(second, 1)
    again = {one.id: one for one in await source.batch(100)}
    while "j1-1" not in again:
        again |= {one.id: one for one in await source.batch(100)}
    assert again["j1-1"].delivered == 2
    source.ack(list(again.values()))
    await bus.publish([event("j9", 1, "again")])
    assert (await heard(source, 1))[0].id == "j9-1"
    await source.close()


async def test_the_events_of_one_job_stay_in_their_order(bus: Bus) -> None:
    """Those of one subject go together, but never past an earlier event of the same job."""
    words = [
        event("a", 1, "order", "queue"),
        event("b", 1, "order", "failed"),
        event("b", 2, "order", "queue"),
        event("c", 1, "order", "queue"),
        event("c", 2, "order", "failed"),
        event("a", 2, "order", "failed"),
    ]
    await bus.publish(words)
    found = [one.id async for one in bus.history("JOBS", ["fairway.job.*.order"])]
    assert sorted(found) == sorted(one.id for one in words)
    for job in "abc":
        assert [one for one in found if one.startswith(job)] == [f"{job}-1", f"{job}-2"]
