"""propagator as two values over one decision: dispatching does not wait for those that delete."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from fairway.domain.decision import Call, Outcome
from fairway.domain.names import HUB_UID
from fairway.propagator.decide import APPLY, SERVICE, Copy, decide
from fairway.runtime.ports import Applied, Bus, Cluster, ClusterRefused, Unreachable
from fairway.runtime.service import Ear, Service
from fairway.runtime.views import JobsView
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.render import ATTEMPT_LABEL, JOB_LABEL, member_copy

# One look at a deletion; the message comes again for the next one.
_DELETE_WAIT_S = 5.0
_submitted = msgspec.json.Decoder(wire.Submitted).decode


class Hands:
    """What the propagator does outside. `clusters` may grow while it runs."""

    def __init__(self, bus: Bus, clusters: Mapping[str, Cluster]) -> None:
        self._bus, self._clusters = bus, clusters

    async def __call__(self, call: Call) -> Outcome:
        """Unknown outcomes have no code: they are tried again, which is harmless for both calls."""
        cluster = self._clusters.get(call.cluster)
        if cluster is None:
            return Outcome(call, False, "", f"{call.cluster} is not configured here")
        try:
            done = await (self._apply(cluster, call) if call.verb == APPLY else self._delete(cluster, call))
        except ClusterRefused as error:
            return Outcome(call, False, error.code, error.text)
        except Unreachable as error:
            return Outcome(call, False, "", str(error))
        return Outcome(call, True, body=done)

    async def _apply(self, cluster: Cluster, call: Call) -> Applied:
        copy: Copy = call.body
        data = await self._bus.fetch(subjects.JOBS, copy.manifest.sequence)
        if data is None:
            raise ClusterRefused("ManifestGone", f"message {copy.manifest.sequence} of the record is no longer there")
        manifest = msgspec.json.decode(_submitted(data).manifest)
        member = member_copy(manifest, call.job, call.attempt)
        if copy.hub_uid:
            member["metadata"].setdefault("annotations", {})[HUB_UID] = copy.hub_uid
        return await cluster.apply(copy.kind, member)

    async def _delete(self, cluster: Cluster, call: Call) -> bool:
        copy: Copy = call.body
        labels = {JOB_LABEL: call.job, ATTEMPT_LABEL: str(call.attempt)}
        return await cluster.delete(copy.kind, copy.namespace, copy.name, labels, _DELETE_WAIT_S)


def services(act: Callable[[Call], Awaitable[Outcome]]) -> tuple[Service, Service]:
    decoder = msgspec.json.Decoder(wire.Message)
    dispatch = Ear(subjects.JOBS, SERVICE, ("fairway.job.reserved.>",), decoder)
    recall = Ear(subjects.JOBS, f"{SERVICE}-recall", ("fairway.job.recall.>",), decoder)
    return (
        Service(SERVICE, (dispatch,), decide, JobsView, act=act, most=128),
        Service(f"{SERVICE}-recall", (recall,), decide, JobsView, act=act, most=64),
    )
