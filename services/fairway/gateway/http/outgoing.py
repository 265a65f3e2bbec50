"""What a door says, as it goes out on the bus: each with an id, so that saying it again is safe."""

import msgspec

from fairway.domain.decision import Say
from fairway.runtime.ports import Outgoing

_encode = msgspec.json.Encoder().encode


def outgoing(say: Say) -> Outgoing:
    kind = ".".join(say.subject.split(".")[:3])
    return Outgoing(say.id, say.subject, _encode(say.message), kind, "/fairway/gateway")
