"""inbound as a value: of what tenants say only a cancellation needs to be looked up."""

from collections.abc import Mapping, Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard
from fairway.inbound.decide import SERVICE, decide, key_of
from fairway.inbound.put_off import Key, PutOff
from fairway.inbound.submitted_bytes import SubmittedBytes
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import flow, inbound, subjects
from fairway.wire.reasons import Reason


class InboundMemory(JobsMemory[object]):
    """`waiting` and the bytes are this instance's own: a new start begins to count anew."""

    settings: tuple[str, ...] = ("ElasticQuotaTree",)

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self._bytes = SubmittedBytes()
        self.waiting = PutOff()

    @property
    def beyond(self) -> Mapping[Key, Reason]:
        return self._bytes.beyond

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self._bytes.count(heard, self._catalog.limits, now)

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        names = [one.message.job for one in heard if isinstance(one.message, inbound.CancelRequest)]
        named = [name for name in dict.fromkeys(names) if name]
        return Wanted(rows={decision.JOBS: named} if named else {})

    def make_up(self, heard: Heard[object], decided: Decision, now: int) -> Decision:
        if isinstance(heard.message, inbound.CancelRequest):
            tenant = subjects.spoken(heard.subject)[0]
            key = key_of(heard)
            if decided.again_in is None:
                self.waiting.drop(tenant, key)
            else:
                self.waiting.put(tenant, key, now + decided.again_in, now)
        return super().make_up(heard, decided, now)


def service(catalog: Catalog) -> Service[InboundMemory, inbound.Message]:
    consumer: Consumer[inbound.Message] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(inbound.Message))
    return Service(SERVICE, (consumer,), decide, lambda: InboundMemory(catalog))
