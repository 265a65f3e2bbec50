"""propagator as two values over one decision: dispatching does not wait for those that delete."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from fairway.domain.decision import Call, Outcome
from fairway.propagator.decide import Hears, decide
from fairway.propagator.view import SERVICE
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, LocalMessages, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import flow
from fairway.wire import jobs as wire


class PropagatorMemory(JobsMemory[object]):
    def __init__(self, reserved: frozenset[str]) -> None:
        super().__init__()
        self.reserved = reserved


def services(
    act: Callable[[Call], Awaitable[Outcome]],
    rooms: Callable[[LocalMessages], Coroutine[Any, Any, None]] | None = None,
    reserved: frozenset[str] = frozenset(),
) -> tuple[Service[PropagatorMemory, Hears], Service[PropagatorMemory, Hears]]:
    """`rooms` runs beside them: it hands over what is held in the members. In `reserved` namespaces nothing is made."""

    def memory() -> PropagatorMemory:
        return PropagatorMemory(reserved)

    decoder = msgspec.json.Decoder(wire.Message)
    dispatch: Consumer[wire.Reserved | wire.Adjust] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    recall: Consumer[wire.Recall] = Consumer(*flow.consumer(f"{SERVICE}-recall"), decoder, place_of)
    return (
        Service(SERVICE, (dispatch,), decide, memory, act=act, most=128, beside=rooms),
        Service(f"{SERVICE}-recall", (recall,), decide, memory, act=act, most=64),
    )
