"""inbound: the tenant is that of the subject, a cancellation counts for its own jobs only, ids come from what came."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from fairway.admission.understand import understand
from fairway.domain.decision import Decision, Heard
from fairway.domain.submission import Asked, submission
from fairway.inbound.decide import decide
from fairway.inbound.put_off import MOST
from fairway.inbound.service import InboundMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, inbound, subjects
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code
from fairway.workloads.reading.parse import DEEPEST, too_deep
from tests.spec.builders.lives import T0, S, queued
from tests.spec.builders.views import Given, events, of, told

NOW = T0 + 9 * S
MINE = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "train", "namespace": "team-a"}}
A_SUBMIT = "fairway.in.team-a.submit"
A_CANCEL = "fairway.in.team-a.cancel"
B_CANCEL = "fairway.in.team-b.cancel"
DOTTED = "team.a"


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(value if isinstance(value, bytes) else msgspec.json.encode(value))


def asked(manifest: Any = MINE, subject: str = A_SUBMIT, client: str = "c-1", **more: Any) -> Heard:
    policies = more.pop("policies", ())
    request = inbound.SubmitRequest(manifest=raw(manifest), policies=tuple(map(raw, policies)), client=client)
    return told(request, **{"id": "own-1", "sequence": 4, "stored_at": T0, "subject": subject, **more})


def stopped(job: str = "llm-1", subject: str = A_CANCEL, **more: Any) -> Heard:
    request = inbound.CancelRequest(job=job)
    return told(request, **{"id": "own-2", "sequence": 5, "stored_at": T0, "subject": subject, **more})


def said(decision: Decision) -> Any:
    (message,) = events(decision)
    return message


def named(namespace: str) -> dict[str, Any]:
    return {**MINE, "metadata": {"name": "train", "namespace": namespace}}


def test_a_submission_is_the_one_of_every_other_door_but_for_who_asked() -> None:
    """So that the same client with the same manifest is the same job, whichever way it takes."""
    over_http = submission(Asked(MINE, (), "c-1"), Actor("ada", "http", "r-1"), T0).say
    (step,) = decide(
        Given(),
        asked(b'{"metadata" : {"namespace":"team-a", "name":"train"}, "apiVersion":"batch/v1", "kind":"Job"}'),
        NOW,
    ).steps
    (on_bus,) = step.events
    assert (on_bus.id, on_bus.subject) == (over_http.id, over_http.subject)
    who = Actor("team-a", "bus", "own-1")
    assert on_bus.message == msgspec.structs.replace(over_http.message, source="bus", who=who)
    assert step.writes == ()


@dataclass(frozen=True)
class Case:
    heard: Heard
    tenant: str


SUBMITTED = {
    "the namespace is the tenant's": Case(asked(), "team-a"),
    "another's namespace is said for the tenant of the subject": Case(asked(named("team-b")), "team-a"),
    "without a namespace, too": Case(asked({"kind": "Job"}), "team-a"),
    "a name that is no plain token is known by its hash": Case(
        asked(named(DOTTED), subjects.inbound("submit", DOTTED)), DOTTED
    ),
    "what is no object goes as it came": Case(asked(b"[1]"), "team-a"),
    "what says a key twice goes as it came": Case(asked(b'{"kind":"Job","kind":"Pod"}'), "team-a"),
    "and so does a policy that is none": Case(asked(policies=(b"7",)), "team-a"),
}


@pytest.mark.parametrize("case", SUBMITTED.values(), ids=list(SUBMITTED))
def test_a_submission_is_said_for_the_tenant_of_its_subject(case: Case) -> None:
    message = said(decide(Given(), case.heard, NOW))
    assert isinstance(message, wire.Submitted)
    assert (message.tenant, message.source) == (case.tenant, "bus")
    assert message.who == Actor(case.tenant, "bus", "own-1")


FORGED = {
    "the namespace of another": named("team-b"),
    "none at all": {"kind": "Job"},
    "no object": [1],
    "a key twice": b'{"metadata":{"namespace":"team-b"},"metadata":{"namespace":"team-a"}}',
    "a client id of the hub's": MINE,
}


@pytest.mark.parametrize("manifest", FORGED.values(), ids=list(FORGED))
def test_admission_refuses_it_under_ids_of_that_tenant_alone(manifest: Any) -> None:
    """Whoever could have a refusal kept under another's client id would take the job that it is going to make."""
    client = "hub:u-1" if manifest is MINE else "c-1"
    message = said(decide(Given(), asked(manifest, client=client), NOW))
    seen = understand(message, "m-1", 7, Catalog())
    assert seen.spec is None and seen.reasons[0].text
    assert (seen.tenant, seen.client.partition("/")[0]) == ("team-a", "team-a")
    for tenant, taken in (("team-b", "c-1"), ("team-a", "hub:u-1")):
        theirs = submission(Asked(named(tenant), (), taken), Actor("", "http"), 0)
        assert seen.job != theirs.job and seen.client != theirs.key


REFUSED = {
    "a cancellation where submissions are said": (stopped(subject=A_SUBMIT), Code.WRONG_SUBJECT),
    "a submission where cancellations are said": (asked(subject=A_CANCEL), Code.WRONG_SUBJECT),
    "more than a mebibyte": (asked(size=2**20 + 1), Code.TOO_LARGE),
    "a hash that is not of its namespace": (asked(subject="fairway.in.~abc.submit"), Code.WRONG_SUBJECT),
    "bytes that are no text": (asked(b'{"a":"\xff"}'), Code.INVALID),
    "a job that nobody knows, to the last": (stopped("nobody", delivered=11), Code.FORBIDDEN),
    "a cancellation of no job": (stopped(""), Code.FORBIDDEN),
}


@pytest.mark.parametrize(("heard", "code"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_not_taken_is_one_dead_letter_that_names_its_tenant(heard: Heard, code: Code) -> None:
    letter = said(decide(Given(), heard, NOW))
    assert isinstance(letter, fleet.DeadLetter)
    assert (letter.service, letter.stream, letter.sequence) == ("inbound", "IN", heard.sequence)
    assert letter.why.code is code and letter.why.text and letter.why.remedy
    assert letter.who is not None and letter.who.user == heard.subject.split(".")[2]
    assert letter.data == b"", "it stays where it was said, and nobody is to fill another stream with it"


def test_a_cancellation_of_its_own_job_is_said() -> None:
    message = said(decide(of(queued()), stopped(), NOW))
    assert message == wire.Cancel(job="llm-1", tenant="team-a", at=T0, who=Actor("team-a", "bus", "own-2"))


def test_of_anothers_job_a_tenant_learns_what_it_learns_of_none() -> None:
    """F5: what is said on B's subject does nothing to A's job, and tells B nothing of it."""
    theirs = decide(of(queued()), stopped(subject=B_CANCEL, delivered=11), NOW)
    nobodys = decide(Given(), stopped(subject=B_CANCEL, delivered=11), NOW)
    assert theirs == nobodys
    assert said(theirs).why.code is Code.FORBIDDEN
    assert isinstance(said(decide(of(queued()), stopped(subject=B_CANCEL), NOW)), fleet.DeadLetter)


def test_a_cancellation_that_came_before_its_job_is_looked_at_again() -> None:
    waits = [decide(Given(), stopped(delivered=times), NOW) for times in (1, 2, 10)]
    assert [(one.steps, one.again_in) for one in waits] == [((), 500), ((), 1_000), ((), 256_000)]


def test_a_tenant_has_so_many_cancellations_wait_and_takes_nobody_elses_room() -> None:
    view = InboundMemory(Catalog())

    def decided(heard: Heard, now: int = NOW) -> Decision:
        return view.make_up(heard, decide(view, heard, now), now)

    first = [stopped(f"none-{n}", sequence=n + 1) for n in range(MOST)]
    assert all(decided(one).again_in == 500 for one in first)
    over = said(decided(stopped("none-more", sequence=MOST + 1)))
    assert over.why.code is Code.TOO_FAST and "none-more" in over.why.text and over.why.remedy
    assert decided(stopped("none", B_CANCEL)).again_in == 500, "another tenant's waits"
    again = msgspec.structs.replace(first[0], delivered=2)
    assert decided(again).again_in == 1_000, "what waits already goes on"
    gone = decided(msgspec.structs.replace(first[1], delivered=11))
    assert said(gone).why.code is Code.FORBIDDEN
    assert decided(stopped("none-more", sequence=MOST + 1)).again_in == 500, "in its place another may wait"
    much_later = NOW + 3_600 * S
    late = [decided(stopped(f"late-{n}", sequence=1_000 + n), much_later).again_in for n in range(MOST)]
    assert late == [500] * MOST, "what did not come again takes no room for ever"


POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}
BATCH = {**MINE, "spec": {"template": {"spec": POD}}}
DEEP = {
    "a manifest": asked(b'{"a":' * 65 + b"1" + b"}" * 65),
    "lists": asked(b"[" * 900 + b"]" * 900),
    "a policy": asked(BATCH, policies=(b'{"a":' * 900 + b"1" + b"}" * 900,)),
}


@pytest.mark.parametrize("heard", DEEP.values(), ids=list(DEEP))
def test_what_is_nested_too_deeply_is_refused_to_its_tenant_and_goes_no_further(heard: Heard) -> None:
    message = said(decide(Given(), heard, NOW))
    deep = [bytes(one) for one in (message.manifest, *message.policies) if too_deep(bytes(one))]
    assert deep and max(one.count(b"[") + one.count(b"{") for one in deep) == DEEPEST + 1
    seen = understand(message, "m-1", 7, Catalog())
    assert seen.spec is None and seen.tenant == "team-a"
    assert f"nested deeper than {DEEPEST} levels" in seen.reasons[0].text and seen.reasons[0].remedy


def test_brackets_in_texts_are_no_depth() -> None:
    manifest = {**MINE, "spec": {"text": '[[{"\\' * 100}}
    assert msgspec.json.decode(said(decide(Given(), asked(manifest), NOW)).manifest) == manifest


@pytest.mark.parametrize("heard", [asked(), asked(client=""), stopped(), stopped(subject=B_CANCEL)])
def test_what_is_heard_once_more_later_is_said_as_before(heard: Heard) -> None:
    again = msgspec.structs.replace(heard, delivered=3)
    assert decide(of(queued()), again, NOW + 60 * S) == decide(of(queued()), heard, NOW)


def test_without_a_client_id_the_id_of_the_message_stands_for_it() -> None:
    """And without that one its place, which another message has when the stream is made anew."""
    own = [said(decide(Given(), asked(client="", id="mine", sequence=n), NOW)) for n in (4, 9)]
    assert own[0] == own[1]
    placed = [said(decide(Given(), asked(client="", id="IN-4", stored_at=at), NOW)) for at in (T0, T0 + S)]
    assert placed[0].job != placed[1].job
    theirs = said(decide(Given(), asked(named("team-b"), "fairway.in.team-b.submit", "", id="mine"), NOW))
    assert theirs.job != own[0].job, "what one tenant calls its message is nothing to another"


def test_a_long_id_of_a_message_is_not_carried_along() -> None:
    message = said(decide(Given(), asked(id="x" * 5_000), NOW))
    assert message.who is not None and len(message.who.request) < 100
