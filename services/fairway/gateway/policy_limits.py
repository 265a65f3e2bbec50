"""Whether a policy of the hub or of POST /v1/settings is larger than policies may be, alone or with others. Pure."""

from fairway.gateway.hub.objects import HubObject, cleaned
from fairway.wire.reasons import Reason
from fairway.workloads.settings.policies import is_policy
from fairway.workloads.settings.policy_limits import Together, size_of, too_large


def beyond(one: HubObject, together: Together) -> tuple[Reason, ...]:
    """Why it is not taken; nothing for what is no policy. It is looked at before it is read, which costs more."""
    if not is_policy(one.manifest):
        return ()
    wish = cleaned(one.manifest)
    if reasons := too_large(wish):
        return reasons
    why = together.too_many(one.key, size_of(wish))
    return () if why is None else (why,)
