"""What of a dead letter is said again: the message as it was, under its own id, where it counts; else why not."""

import msgspec
import pytest

from fairway.domain.working_sets import WorkingSets
from fairway.runtime.record.dead_letter_retry import again, check, job_of
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Code, Reason, Refused

SUBJECT = subjects.job("queue", "t")
EVENT = b'{"type":"queue","job":"a","tenant":"t","rev":2,"epoch":10,"of tomorrow":[1, 2]}'
COMMAND = b'{"type":"cancel","job":"a","tenant":"t"}'


def sets(*born: int) -> WorkingSets:
    made = WorkingSets()
    for begun in born:
        made.hear(wire.Rebuild(owner="o"), begun)
        made.hear(wire.Rebuild(owner="o", begun=begun), begun + 1)
    return made


def letter(data: bytes, sequence: int = 15, **changed: object) -> DeadLetter:
    made = DeadLetter(
        service="queue",
        subject=SUBJECT,
        id="m",
        stream="JOBS",
        sequence=sequence,
        why=Reason(Code.UNDECODABLE, ""),
        data=data,
    )
    return msgspec.structs.replace(made, **changed)


@pytest.mark.parametrize("data", [EVENT, COMMAND, b"\xff{", b"[1]", b""])
def test_a_message_is_said_again_to_the_byte_in_the_working_set_of_its_time(data: bytes) -> None:
    said = again(letter(data), sets(10))
    assert (said.id, said.subject, said.kind, said.data) == ("m", SUBJECT, "fairway.job.queue", data)


def test_an_event_that_a_later_working_set_was_made_of_is_said_as_one_of_that() -> None:
    """Else it would be a late word, and nobody would act on it."""
    said = again(letter(EVENT), sets(10, 20))
    assert msgspec.json.decode(said.data) == {**msgspec.json.decode(EVENT), "epoch": 20}
    check(said.data, 25, sets(10, 20))
    with pytest.raises(Refused):
        check(EVENT, 25, sets(10, 20))


def test_a_letter_from_before_letters_had_ids_is_known_by_its_place() -> None:
    assert again(letter(COMMAND, id=""), sets()).id == "JOBS-15"


@pytest.mark.parametrize(
    ("buried", "code"),
    [
        pytest.param(letter(EVENT, sequence=25), Code.OVERTAKEN, id="it came too late for its working set"),
        pytest.param(letter(b"{}", stream="CLUSTERS"), Code.OVERTAKEN, id="a report of a cluster"),
        pytest.param(letter(b"", stream=""), Code.NO_MESSAGE, id="a body that was refused at the door"),
    ],
)
def test_of_what_nothing_would_come_is_not_said_again(buried: DeadLetter, code: Code) -> None:
    with pytest.raises(Refused) as refused:
        again(buried, sets(10, 20))
    (why,) = refused.value.reasons
    assert why.code is code and why.text and "drop the letter" in why.remedy


def test_the_job_is_read_from_whatever_can_be_read() -> None:
    assert [job_of(data) for data in (EVENT, b'{"job":"b","spec":7}', b"\xff", b"[]", b"")] == ["a", "b", "", "", ""]
