"""What is asked of a setting of the hub or of POST /v1/settings before it is taken, and not of what is in force
already: that a policy is no larger than policies may be, alone or with others, and that every field is known. Pure."""

from fairway.wire.reasons import Reason
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.settings.field_effects import unknown_fields
from fairway.workloads.settings.policies import is_policy
from fairway.workloads.settings.policy_limits import Together, size_of, too_large


def beyond(one: HubObject, together: Together) -> tuple[Reason, ...]:
    """Why it is not taken. A policy's size is looked at before it is read, which costs more."""
    if not is_policy(one.manifest):
        return _unknown(one)
    wish = cleaned(one.manifest)
    if reasons := too_large(wish):
        return reasons
    why = together.too_many(one.key, size_of(wish))
    return _unknown(one) if why is None else (why,)


def _unknown(one: HubObject) -> tuple[Reason, ...]:
    """Fields that its reader passes over, with all that its reader says against others."""
    reasons = one.understood[1]
    told = {reason.field for reason in reasons}
    unread = tuple(reason for reason in unknown_fields(one.manifest) if reason.field not in told)
    return (*reasons, *unread) if unread else ()
