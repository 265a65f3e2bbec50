"""How much a tenant on the bus may submit: refused beyond, and a place taken for what is let in."""

from collections.abc import Mapping

from fairway.admission.view import View
from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Write
from fairway.domain.submission import BUS
from fairway.domain.tenancy.submission_limits import NONE, Limits, limit_for, too_fast, too_many
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason


def limit_of(message: wire.Manifested, limits: Mapping[str, Limits]) -> Limits:
    """Of who speaks on the bus. What came through the gateway has been let in there, and is not refused afterwards."""
    return limit_for(message.tenant, limits) if message.source == BUS else NONE


def place(view: View, heard: Heard[wire.Manifested]) -> tuple[Write, ...]:
    """Another admission may take the last place meanwhile."""
    most = limit_of(heard.message, view.limits).pending
    return (Add(decision.PENDING, heard.message.tenant, 0, most=most - 1),) if most else ()


def too_much(view: View, heard: Heard[wire.Manifested]) -> Reason | None:
    tenant = heard.message.tenant
    limit = limit_of(heard.message, view.limits)
    if heard.id in view.hasty:
        return too_fast(tenant, limit)
    return too_many(tenant, limit, view.pending.get(tenant, 0))
