"""The auditor and what comes late: words of a lost working set, repetitions, events that are stored out of turn."""

import msgspec

from fairway.audit.attempts import Spoken
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.spec.builders.lives import GPU, SLOTS, failing, running
from tests.spec.builders.records import audit, heard, succeeded


def rules(record: list[Spoken]) -> list[str]:
    return [one.rule for one in audit(record).violations]


def after(record: list[Spoken], *more: wire.JobMessage) -> list[Spoken]:
    last = len(record)
    return record + [
        Spoken(last + index, f"late-{index}", subjects.job(one.verb, one.tenant), one)
        for index, one in enumerate(more, 1)
    ]


def test_the_very_same_message_once_more_is_no_breach_and_another_of_its_revision_is_one() -> None:
    record = heard(succeeded(running()))
    repeated = msgspec.structs.replace(record[3], sequence=99)
    other = msgspec.structs.replace(repeated, id="another")
    assert rules([*record, repeated]) == []
    assert rules([*record, other]) == ["rev"]


def test_a_word_of_a_lost_working_set_is_passed_over() -> None:
    record = heard(running())
    born = len(record) + 1
    rebuilt = after(record, wire.Rebuild(owner="o"), wire.Rebuild(owner="o", begun=born))
    late = record[-1].message
    assert rules(after(rebuilt, late)) == []
    assert rules(after(record, late)) == ["rev"], "without a rebuild it is a second word of its revision"


def test_what_is_said_while_a_rebuild_goes_on_is_late_as_well() -> None:
    record = heard(running())
    late = record[-1].message
    assert rules(after(record, wire.Rebuild(owner="o"), late, wire.Rebuild(owner="o", begun=len(record) + 1))) == []
    assert rules(after(record, wire.Rebuild(owner="o"), late)) == ["rev"], "a rebuild that never ended voids nothing"


def test_a_rebuild_goes_on_over_a_word_that_was_never_said() -> None:
    life = running()
    whole = heard(life)
    gap = [one for one in whole if not isinstance(one.message, wire.Dispatched)]
    born = len(whole) + 1
    begun = after(whole, wire.Rebuild(owner="o"))[-1]
    over = Spoken(born + 1, "over", begun.subject, wire.Rebuild(owner="o", begun=born))
    end = wire.Succeeded(
        job=life.now.id,
        tenant=life.now.tenant,
        rev=life.now.rev + 1,
        attempt=1,
        at=life.at,
        cluster="c1",
        text="8 of 8 ended well",
        epoch=born,
    )
    said = [*gap, begun, over, Spoken(born + 2, "end", subjects.job("succeeded", end.tenant), end)]
    assert rules(said) == []
    assert audit(said).ends == {"succeeded": 1}
    assert "rev" in rules([*gap, Spoken(born + 2, "end", subjects.job("succeeded", end.tenant), end)])


def test_what_is_said_between_a_rebuild_that_came_to_nothing_and_the_next_one_fills_its_gap() -> None:
    """Another one of the same job was stored first. The rebuild reads both: neither is missing, and neither is late."""
    whole = heard(succeeded(running()))
    early = [one for one in whole if not isinstance(one.message, wire.Running)]
    (word,) = [one.message for one in whole if isinstance(one.message, wire.Running)]
    record = [msgspec.structs.replace(one, sequence=at) for at, one in enumerate(early, 1)]
    came_to_nothing = after(record, wire.Rebuild(owner="o"))
    born = len(came_to_nothing) + 2
    filled = after(after(came_to_nothing, word), wire.Rebuild(owner="o"), wire.Rebuild(owner="o", begun=born))
    assert audit(filled).violations == ()
    assert rules(after(filled, word)) == [], "once more it is late"
    other = msgspec.structs.replace(word, text="another word of its revision")
    twice = after(after(came_to_nothing, word, other), wire.Rebuild(owner="o"))
    twice = after(twice, wire.Rebuild(owner="o", begun=len(twice)))
    assert rules(twice) == ["rev"]


def test_a_rebuild_goes_on_over_a_removal_that_was_never_said() -> None:
    """The queue had seen in the row that nothing was left, and let the next attempt go."""
    life = failing(running()).then(wire.Removed, cluster="c1", attempt=1)
    life.then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32})
    life.then(wire.Placed, cluster="c2", slots=SLOTS).then(wire.Reserved, cluster="c2", slots=SLOTS, expires_at=0)
    whole = heard(life)
    gap = [one for one in whole if not isinstance(one.message, wire.Removed)]
    assert "one attempt" in rules(without_gap(gap)), "said in order without it, it would be a breach"
    begun = Spoken(len(whole) + 1, "begun", subjects.job("rebuild", ""), wire.Rebuild(owner="o"))
    over = Spoken(len(whole) + 2, "over", begun.subject, wire.Rebuild(owner="o", begun=len(whole) + 1))
    assert "one attempt" not in rules([*gap, begun, over])


def without_gap(record: list[Spoken]) -> list[Spoken]:
    """The same, with revisions one after the other."""
    said = []
    rev = 0
    for one in record:
        rev += bool(one.message.rev)
        message = msgspec.structs.replace(one.message, rev=rev) if one.message.rev else one.message
        said.append(msgspec.structs.replace(one, message=message))
    return said
