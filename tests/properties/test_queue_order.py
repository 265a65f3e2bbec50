"""The order of a queue: by priority, then first come; stable over attempts, arrivals and departures."""

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.queue_policy import QueueSpec
from fairway.queue.metrics.counted_line import CountedLine
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.wire.reasons import Code
from tests.spec.builders.waiting import waiting

asked = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3)), min_size=1, max_size=12)
jobs = asked.map(lambda all_: [waiting(f"j{index}", at, priority=rank).now for index, (rank, at) in enumerate(all_)])


def order(queued: WaitingJobs) -> list[str]:
    return [entry.job.id for entry in queued.line("gold")]


@given(jobs, st.randoms(use_true_random=False))
def test_the_order_does_not_hang_on_the_order_of_arrival(given_jobs, random) -> None:  # type: ignore[no-untyped-def]  # of strategies
    one = WaitingJobs()
    other = WaitingJobs()
    for job in given_jobs:
        one.put(job)
    shuffled = [*given_jobs, *given_jobs]
    random.shuffle(shuffled)
    for job in shuffled:
        other.put(job)
    assert order(one) == order(other)
    assert order(one) == [
        job.id for job in sorted(given_jobs, key=lambda job: (-job.spec.priority, job.enqueued_at, job.id))
    ]


@given(jobs)
def test_a_queue_that_becomes_one_of_time_alone_orders_who_waits_there_already(given_jobs) -> None:  # type: ignore[no-untyped-def]  # of strategies
    by_time = False
    queued = WaitingJobs(lambda queue: QueueSpec(queue, by_time=by_time))
    for job in given_jobs:
        queued.put(job)
    by_time = True
    queued.reorder()
    assert order(queued) == [job.id for job in sorted(given_jobs, key=lambda job: (job.enqueued_at, job.id))]


@given(jobs)
def test_a_queue_that_gets_another_priority_keeps_its_own_order_and_goes_before_lower_ones(given_jobs) -> None:  # type: ignore[no-untyped-def]  # of strategies
    ranks = {"silver": 0}
    queued = WaitingJobs(lambda queue: QueueSpec(queue, priority=ranks.get(queue, 0)))
    other = waiting("other", 9, queue="silver", priority=-9).now
    for job in (*given_jobs, other):
        queued.put(job)
    before = order(queued)
    ranks["silver"] = 1
    queued.reorder()
    assert order(queued) == before
    assert all(queued.entries["other"].place < queued.entries[name].place for name in before)


@given(jobs, st.data())
def test_who_leaves_changes_nothing_between_the_others(given_jobs, data) -> None:  # type: ignore[no-untyped-def]  # of strategies
    queued = WaitingJobs()
    for job in given_jobs:
        queued.put(job)
    before = order(queued)
    gone = data.draw(st.sampled_from(before))
    queued.drop(gone)
    assert order(queued) == [name for name in before if name != gone]
    assert all(len(places) for places in [*(line.places for line in queued.lines.values()), *queued.groups.values()])


@given(jobs, st.data())
def test_jobs_are_counted_by_their_reason_and_the_oldest_is_known_whoever_comes_and_goes(given_jobs, data) -> None:  # type: ignore[no-untyped-def]  # of strategies
    queued = WaitingJobs()
    for job in given_jobs:
        queued.put(job)
    for name in data.draw(st.lists(st.sampled_from(order(queued)), unique=True)):
        held = msgspec.structs.replace(queued.entries[name].job, held=data.draw(st.booleans()))
        if data.draw(st.booleans()):
            queued.put(held)
        else:
            queued.drop(name)
    left = [entry.job for entry in queued.entries.values()]
    (line,) = queued.lines.values() if left else (CountedLine(),)
    assert line.reasons == Counter(Code.SUSPENDED if job.held else Code.QUEUED for job in left)
    oldest = min((job.enqueued_at for job in left if not job.held), default=None)
    assert line.oldest(lambda name: not queued.entries[name].job.held) == oldest
