"""What users did and were refused, read out of what is said of it: the audit, the record of jobs, and dead letters.
Pure."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Delivery
from fairway.runtime.record.kept_letters import LetterLine, kept_letter
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Reason


class Deed(Struct, frozen=True, omit_defaults=True):
    """`does` is a verb of Kubernetes' rules. `job` is the id of the job that it is about, if it is about one; `times`
    how often it was within the ten seconds before `at` (ms since 1970); `why` it was not `allowed`."""

    at: int
    who: Actor
    does: str
    what: str
    namespace: str = ""
    name: str = ""
    job: str = ""
    allowed: bool = True
    times: int = 1
    why: tuple[Reason, ...] = ()


class _Meta(Struct, frozen=True):
    name: str = ""


class _Head(Struct, frozen=True):
    kind: str = ""
    metadata: _Meta = _Meta()


_audited = decoder(fleet.Audited)
_message = decoder(wire.Submitted | wire.Revise | wire.Cancel | wire.HoldJob | wire.Rejected | wire.ManifestsRemoved)
_head = decoder(_Head)


def of_audit(said: Delivery) -> Iterator[Deed]:
    try:
        one = _audited(said.data)
    except msgspec.DecodeError:
        return
    yield Deed(one.at, one.who, one.does, one.resource, one.namespace, one.name, "", one.allowed, one.times)


def of_letter(said: Delivery) -> Iterator[Deed]:
    """What a door could not take of somebody."""
    one = LetterLine.of(kept_letter(said.sequence, said.data))
    if one.who is not None:
        yield Deed(one.at, one.who, "say", one.subject, job=one.job, allowed=False, why=(one.why,))


class JobDeeds:
    """Reads the record in its order: who submitted a job is who was refused it. Of manifests that were removed since it
    is said later who submitted them."""

    def __init__(self) -> None:
        self._of: dict[str, Deed] = {}
        self._refused: dict[str, wire.Rejected] = {}

    def hear(self, said: Delivery) -> Iterator[Deed]:
        try:
            message = _message(said.data)
        except msgspec.DecodeError:
            return  # of another kind, or one that its consumer has put among the dead letters
        match message:
            case wire.Rejected() if (asked := self._of.pop(message.job, None)) is not None:
                yield _refused(asked, message)
            case wire.Rejected():
                self._refused[message.job] = message
            case wire.ManifestsRemoved():
                yield from self._removed(message)
            case wire.Submitted(who=Actor() as who):
                self._of[message.job] = deed = self._manifested(message, who, "create")
                yield deed
            case wire.Revise(who=Actor() as who):
                yield self._manifested(message, who, "update")
            case wire.Cancel(who=Actor() as who):
                yield Deed(message.at, who, "delete", "job", message.tenant, job=message.job)
            case wire.HoldJob(who=Actor() as who):
                does = "suspend" if message.held else "resume"
                yield Deed(message.at, who, does, "job", message.tenant, job=message.job)

    def _removed(self, message: wire.ManifestsRemoved) -> Iterator[Deed]:
        for one in message.removed:
            if one.who is None:
                continue
            does = "create" if one.said == wire.Submitted.verb else "update"
            yield (deed := Deed(one.at, one.who, does, "job", message.tenant, job=message.job))
            if does == "create" and (refused := self._refused.pop(message.job, None)) is not None:
                yield _refused(deed, refused)

    def _manifested(self, message: wire.Manifested, who: Actor, does: str) -> Deed:
        try:
            head = _head(bytes(message.manifest))
        except msgspec.DecodeError:
            head = _Head()
        return Deed(message.at, who, does, head.kind or "job", message.tenant, head.metadata.name, message.job)


def _refused(asked: Deed, message: wire.Rejected) -> Deed:
    return msgspec.structs.replace(asked, at=message.at, allowed=False, why=message.reasons)
