"""Fairway as a later version might be, which says more in every message and report:
`python -m tests.faults.arena.next_version ARGS`."""

from collections.abc import Callable
from typing import Any

import fairway.agent.messages
import fairway.gateway.http.outgoing
import fairway.runtime.outbox
from fairway.cli.main import main

_MORE = b',"added_since":{"version":2,"words":["of","the","next"]}}'


def more(encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    def encoded(message: Any) -> bytes:
        return encode(message)[:-1] + _MORE

    return encoded


if __name__ == "__main__":
    for module in (fairway.agent.messages, fairway.gateway.http.outgoing, fairway.runtime.outbox):
        module._encode = more(module._encode)
    main()
