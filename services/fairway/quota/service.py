"""quota as a value."""

import msgspec

from fairway.domain.quota.tree import QuotaNode
from fairway.quota.decide import SERVICE, decide
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import flow
from fairway.wire import jobs as wire


class QuotaMemory(JobsMemory[object]):
    settings: tuple[str, ...] = ("ElasticQuotaTree", "TenantProfile", "Namespace")

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self.tenancy = catalog.tenancy

    @property
    def tree(self) -> QuotaNode | None:
        return self._catalog.tree


def service(catalog: Catalog) -> Service[QuotaMemory, wire.Admitted]:
    decoder = msgspec.json.Decoder(wire.Message)
    consumer: Consumer[wire.Admitted] = Consumer(*flow.consumer(SERVICE), decoder, place_of)
    return Service(SERVICE, (consumer,), decide, lambda: QuotaMemory(catalog))
