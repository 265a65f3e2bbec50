"""Telling: ids, guards, what is given back, and what is made up for rows that are behind."""

import pytest

from fairway.domain.decision import Add, Put, Step
from fairway.domain.events import Teller, counted
from fairway.domain.quota.charge import Share
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import (
    GPU,
    T0,
    Life,
    S,
    admitted,
    dequeued,
    dispatched,
    failing,
    queued,
    reserved,
    running,
    submitted,
)
from tests.spec.builders.views import of, told

NOW = T0 + 60 * S
WHY = Reason(Code.WAITING_FOR_QUOTA, "none left", "root/a")


def blocked(life, heard) -> Step:  # type: ignore[no-untyped-def]  # of lives
    return Teller(of(life), "queue", heard, NOW, life.name).say(wire.Blocked, why=WHY).step()


def counters(step: Step) -> dict[str, int]:
    return {write.key: write.amount for write in step.writes if isinstance(write, Add)}


def test_two_events_of_a_job_in_answer_to_one_message_never_share_an_id() -> None:
    """The bus takes the second of one id for a repetition. A refused step is decided again on a newer row."""
    freed = told(wire.Cancel(tenant="t"))
    first = blocked(queued(), freed).events[0]
    later = queued().then(wire.Blocked, why=WHY)
    second = Teller(of(later), "queue", freed, NOW, later.name).say(wire.Dequeued).step().events[0]
    assert first.id != second.id
    assert blocked(queued(), freed).events[0].id == first.id


def test_a_job_is_put_at_its_new_rev_if_it_is_still_at_the_one_that_was_read() -> None:
    (put,) = blocked(queued(), told(wire.Cancel(tenant="t"))).writes
    assert isinstance(put, Put)
    assert (put.rev, put.expect) == (4 - 1, 2)


def test_what_was_charged_is_owed_from_the_step_that_ends_the_charge() -> None:
    life = running()
    heard = told(wire.Cancel(tenant="t"))
    step = Teller(of(life), "watcher", heard, NOW, life.name).say(wire.Succeeded, cluster="c1").step()
    assert [(one.key, one.value) for one in step.writes if isinstance(one, Put) and one.table == "owed"] == [
        (f"llm-1/{step.events[0].message.rev}", Share(("root", "root/a"), {GPU: 32}))
    ]
    assert counters(step) == {}, "it stays charged until the queue has heard of it"
    back = failing(running())
    assert (back.now.charged, back.now.charge) == (False, {})


def test_a_job_that_ends_is_not_live_and_its_name_is_free_and_after_that_never_again() -> None:
    life = queued()
    heard = told(wire.Cancel(tenant="t"))
    step = Teller(of(life), "queue", heard, NOW, life.name).say(wire.Cancelled).step()
    ends = {write.key: write.value for write in step.writes if isinstance(write, Put) and write.table != "jobs"}
    assert ends == {"llm-1": None, "team-a/PyTorchJob/llm": None}
    life.then(wire.Cancelled)
    more = Teller(of(life), "watcher", heard, NOW, life.name).say(wire.Recall, cluster="c1", why=WHY).step()
    assert [write.table for write in more.writes if isinstance(write, Put)] == ["jobs"]


def test_a_charge_that_the_store_has_not_seen_is_made_up_for() -> None:
    """The store was rebuilt while `dequeued` was on its way: its charge went with the old store."""
    view = of(dequeued())
    view.stored["llm-1"] = queued().now
    view.revs["llm-1"] = queued().now.rev
    step = Teller(view, "global-scheduler", told(wire.Cancel(tenant="t")), NOW, "llm-1")
    taken = step.say(wire.Placed, cluster="c1", slots=()).step()
    assert counters(taken) == {"root|nvidia.com/gpu": 32, "root/a|nvidia.com/gpu": 32}
    assert taken.writes[0].expect == queued().now.rev  # type: ignore[union-attr]  # the job's row


def test_an_end_that_the_store_has_not_seen_gives_back() -> None:
    view = of(reserved().then(wire.Cancelled))
    view.stored["llm-1"] = reserved().now
    view.revs["llm-1"] = reserved().now.rev
    step = Teller(view, "queue", told(wire.Cancel(tenant="t")), NOW, "llm-1").step()
    assert counters(step) == {"root|nvidia.com/gpu": -32, "root/a|nvidia.com/gpu": -32, "team-a": -1}
    assert step.events == ()
    assert {write.key for write in step.writes if isinstance(write, Put) and write.value is None} == {
        "llm-1",
        "team-a/PyTorchJob/llm",
    }


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param(None, admitted(), 1, id="admitted"),
        pytest.param(admitted(), queued(), 0, id="queued"),
        pytest.param(reserved(), dispatched(), -1, id="in a cluster"),
        pytest.param(dispatched(), running(), 0, id="running"),
        pytest.param(running(), failing(running()), 1, id="back in its queue"),
        pytest.param(queued(), queued().then(wire.Cancelled), -1, id="cancelled while it waited"),
        pytest.param(running(), running().then(wire.Cancelled), 0, id="cancelled while it ran"),
        pytest.param(None, submitted().then(wire.Rejected, reasons=(WHY,)), 0, id="refused"),
    ],
)
def test_it_is_counted_who_is_pending(before: Life | None, after: Life, want: int) -> None:
    added = counted(before.now if before else None, after.now)
    assert added == ([Add("pending", "team-a", want)] if want else [])


def test_a_job_that_the_store_has_not_seen_gets_its_rows() -> None:
    view = of(queued(client="team-a/c1"))
    view.stored["llm-1"] = None
    view.revs.clear()
    step = Teller(view, "queue", told(wire.Cancel(tenant="t")), NOW, "llm-1").say(wire.Dequeued, charge={GPU: 1}).step()
    puts = {write.table: write.key for write in step.writes if isinstance(write, Put)}
    assert puts == {"jobs": "llm-1", "live": "llm-1", "names": "team-a/PyTorchJob/llm", "clients": "team-a/c1"}
    assert submitted().job is None
