"""inbound as a value: of what tenants say only a cancellation needs to be looked up."""

from collections.abc import Sequence

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Heard
from fairway.inbound.decide import SERVICE, decide
from fairway.runtime.ports import Wanted
from fairway.runtime.service import Ear, Service
from fairway.runtime.views import JobsView
from fairway.wire import inbound, subjects


class InboundView(JobsView):
    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        names = [one.message.job for one in heard if isinstance(one.message, inbound.CancelRequest)]
        named = [name for name in dict.fromkeys(names) if name]
        return Wanted(rows={decision.JOBS: named} if named else {})


def service() -> Service:
    heard = ("fairway.in.*.submit", "fairway.in.*.cancel")
    ear = Ear(subjects.IN, SERVICE, heard, msgspec.json.Decoder(inbound.Message))
    return Service(SERVICE, (ear,), decide, InboundView)
