"""For the benchmark of the pipeline alone: clusters that take everything at once and show nothing."""

from fairway.domain.decision import Call, Outcome
from fairway.runtime.cluster_port import Applied


async def stub_act(call: Call) -> Outcome:
    """Applied and deleted without a cluster; the propagator decides on it as on any other outcome."""
    return Outcome(call, True, body=Applied(uid=call.job) if call.verb == "apply" else True)
