"""inbound as a value: of what tenants say only a cancellation needs to be looked up."""

from collections.abc import Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard
from fairway.inbound.decide import SERVICE, decide
from fairway.inbound.memory import PutOff
from fairway.runtime.ports import Wanted
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import flow, inbound, subjects


class InboundMemory(JobsMemory[object]):
    """`waiting` is this instance's own: a new start begins to count anew."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = PutOff()

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        names = [one.message.job for one in heard if isinstance(one.message, inbound.CancelRequest)]
        named = [name for name in dict.fromkeys(names) if name]
        return Wanted(rows={decision.JOBS: named} if named else {})

    def make_up(self, heard: Heard[object], decided: Decision, now: int) -> Decision:
        if isinstance(heard.message, inbound.CancelRequest):
            tenant = subjects.spoken(heard.subject)[0]
            key = (heard.sequence, heard.id)
            if decided.again_in is None:
                self.waiting.drop(tenant, key)
            else:
                self.waiting.put(tenant, key, now + decided.again_in, now)
        return super().make_up(heard, decided, now)


def service() -> Service[InboundMemory, inbound.Message]:
    consumer: Consumer[inbound.Message] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(inbound.Message))
    return Service(SERVICE, (consumer,), decide, InboundMemory)
