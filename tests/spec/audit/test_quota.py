"""The auditor and quota: trees that change, and shares that are taken before they are given back."""

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Grace
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S, spec, submitted
from tests.spec.builders.records import NODES, TREE, heard

SMALL = QuotaNode("root", "root", children=(QuotaNode("a", "root/a", max={GPU: 20}),))
KNOWN_MS = 60 * S


def charged(name: str, after: int = S) -> Life:
    """A job that asks for 32 of the 40 that its leaf may have."""
    life = submitted(name).then(wire.Admitted, attempt=1, spec=spec(name))
    life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), enqueued_at=T0)
    return life.then(wire.Dequeued, after=after, path=("root", "root/a"), charge={GPU: 32})


def renewed(record: list[Spoken], *more: Spoken) -> list[Spoken]:
    """With another working set after it, and what is said there."""
    born = len(record) + 1
    words = (wire.Rebuild(owner="o"), wire.Rebuild(owner="o", begun=born))
    record = record + [Spoken(born + at, f"r-{at}", subjects.job("rebuild", ""), one) for at, one in enumerate(words)]
    for one in more:
        message = msgspec.structs.replace(one.message, epoch=born)
        record.append(msgspec.structs.replace(one, sequence=len(record) + 1, message=message))
    return record


def quota_rules(checker: Checker, record: list[Spoken]) -> list[str]:
    for one in record:
        checker.hear(one)
    return [one.text for one in checker.findings().violations if one.rule == "quota"]


@pytest.mark.parametrize("late_ms, wrong", [(KNOWN_MS - S, []), (KNOWN_MS + 9 * S, ["root/a uses 32"])])
def test_a_smaller_tree_counts_when_it_must_be_known(late_ms: int, wrong: list[str]) -> None:
    checker = Checker(NODES, TREE, Grace(tree=KNOWN_MS))
    checker.charges.changed(SMALL, T0)
    found = quota_rules(checker, heard(charged("one", after=late_ms - 3 * S)))
    assert [text for text in found if wrong == [] or wrong[0] not in text] == []
    assert len(found) == len(wrong)


@pytest.mark.parametrize("wrong", [[], ["quota root/a uses 6"]], ids=["after that", "before that"])
def test_a_share_may_be_taken_when_the_record_says_that_it_was_given_back(wrong: list[str]) -> None:
    """The clocks are no excuse: a store that was lost a moment before is made from what stands there."""
    one = heard(charged("one").then(wire.Queue, queue="gold", leaf=(), enqueued_at=T0))
    two = heard(charged("two"))
    turns = [*one[:-1], *two[:-1]]
    turns += [two[-1], one[-1]] if wrong else [one[-1], two[-1]]
    record = [msgspec.structs.replace(spoken, sequence=at) for at, spoken in enumerate(turns, 1)]
    assert [text[:19] for text in quota_rules(Checker(NODES, TREE), record)] == wrong


def test_who_is_blocked_has_given_his_share_back_though_the_word_of_it_is_missing() -> None:
    life = charged("one")
    life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), enqueued_at=T0)
    life.then(wire.Blocked, why=Reason(Code.WAITING_FOR_ROOM, "no room now"))
    whole = heard(life)
    gap = [msgspec.structs.replace(one, sequence=at) for at, one in enumerate((*whole[:-2], whole[-1]), 1)]
    two = heard(charged("two", after=99 * S))
    assert quota_rules(Checker(NODES, TREE), renewed(gap, *two)) == []


def test_a_share_that_was_given_back_before_it_was_said_hides_no_other() -> None:
    one, two = (heard(charged(name).then(wire.Queue, queue="gold", leaf=(), enqueued_at=T0)) for name in ("one", "two"))
    three = heard(charged("three"))
    turns = [*one[:-2], *two[:-2], *three[:-1], one[-1], two[-2], three[-1], two[-1], one[-2]]
    record = [msgspec.structs.replace(spoken, sequence=at) for at, spoken in enumerate(turns, 1)]
    assert [text[:19] for text in quota_rules(Checker(NODES, TREE), record)] == ["quota root/a uses 6"]
