"""The auditor asks who asked: a door is named, and its user spoke for no other tenant."""

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Findings
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor

ON_BUS = Actor("team-a", "bus", "m-1")
OVER_HTTP = Actor("ada", "http", "r-1")


def audited(*messages: wire.JobMessage) -> Findings:
    checker = Checker({})
    for place, one in enumerate(messages, 1):
        checker.hear(Spoken(place, f"m{place}", subjects.job(one.verb, one.tenant), one))
    return checker.findings()


def submitted(source: str, who: Actor | None) -> wire.Submitted:
    return wire.Submitted(tenant="team-a", manifest=msgspec.Raw(b"{}"), client="c", source=source, who=who)


def revise(who: Actor | None, source: str = "hub") -> wire.Revise:
    return wire.Revise(job="llm-1", tenant="team-a", manifest=msgspec.Raw(b"{}"), source=source, who=who)


def hold(who: Actor | None) -> wire.HoldJob:
    return wire.HoldJob(job="llm-1", tenant="team-a", held=True, who=who)


def cancel(who: Actor | None) -> wire.Cancel:
    return wire.Cancel(job="llm-1", tenant="team-a", who=who)


@pytest.mark.parametrize(
    ("message", "breaks"),
    [
        pytest.param(submitted("bus", ON_BUS), False, id="a tenant submits for itself"),
        pytest.param(submitted("bus", Actor("team-b", "bus")), True, id="for another"),
        pytest.param(submitted("http", ON_BUS), True, id="through another door than it says"),
        pytest.param(submitted("http", OVER_HTTP), False, id="over HTTP a user is no tenant"),
        pytest.param(submitted("bus", None), False, id="by nobody that is named"),
        pytest.param(revise(Actor("hub:team-a", "hub")), False, id="an object of the hub is changed there"),
        pytest.param(revise(OVER_HTTP), True, id="or through another door than it says"),
        pytest.param(
            wire.HoldJob(tenant="team-a", held=True, who=Actor("team-b", "bus")), True, id="another's is held"
        ),
        pytest.param(cancel(ON_BUS), False, id="a tenant cancels its own"),
        pytest.param(cancel(Actor("team-b", "bus")), True, id="another's"),
    ],
)
def test_who_asked(message: wire.JobMessage, breaks: bool) -> None:
    assert ("who" in [one.rule for one in audited(message).violations]) is breaks


def test_it_is_counted_by_door() -> None:
    found = audited(submitted("bus", ON_BUS), submitted("http", OVER_HTTP), cancel(ON_BUS), cancel(None))
    assert found.asked == {"": 1, "bus": 2, "http": 1}
