"""What somebody does with the operator's credential, for the audit: that credential is proven, their name is as their
machine has it."""

import getpass
import os

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.client.failure import UNREACHABLE, Failure
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.runtime.record.audited import audited
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Audited
from fairway.wire.subjects import OPERATOR


def operator() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # in a container the user may have a number and no name
        return str(os.getuid())


async def noted(bus: NatsBus, does: str, resource: str, name: str = "") -> None:
    """Stored when it returns. Failure when it is not: then it is not to be done."""
    who = Actor(operator(), OPERATOR)
    say = audited(OPERATOR, Audited(at=SystemClock().now(), who=who, does=does, resource=resource, name=name))
    kind = ".".join(say.subject.split(".")[:2])
    try:
        await bus.publish([Outgoing(say.id, say.subject, msgspec.json.encode(say.message), kind, "/fairway/operator")])
    except Unreachable as error:
        text = f"this is not done, because it could not be written into the audit: {error}"
        raise Failure(
            UNREACHABLE, text, "run `fairway setup` of this version, or use the operator's credential"
        ) from None
