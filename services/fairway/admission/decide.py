"""Is this a job, is it new, and may it be known by this name? Then it is admitted; else it is told why not."""

from collections.abc import Mapping
from typing import Any, Protocol

from fairway.admission.named_settings import SETTLING
from fairway.admission.understand import Understood
from fairway.domain import decision
from fairway.domain.decision import NOTHING, Add, Decision, Heard, Put, Write
from fairway.domain.events import Jobs, Teller, another_id, name_key
from fairway.domain.job import Job, State
from fairway.domain.submission import BUS
from fairway.domain.tenancy.submission_limits import NONE, Limits, limit_for, too_fast, too_many
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

SERVICE = "admission"
# An object that was deleted and created again has to wait until nothing of the old one is left; looked at this often
# (ms), and for about a minute.
_NAME_WAIT_MS = 250
_NAME_TRIES = 240
_SETTLE_MS = 250


class View(Jobs, Protocol):
    """`clients` maps a client id to the job it made and the digest of its manifest; `names` a taken name to a job;
    `pending` a tenant to how many of its jobs are. `hasty` messages came faster than their tenant may submit."""

    understood: dict[str, Understood]
    clients: dict[str, tuple[str, str]]
    names: dict[str, str]
    pending: dict[str, int]
    hasty: set[str]

    @property
    def limits(self) -> Mapping[str, Limits]: ...


def decide(view: View, heard: Heard, now: int) -> Decision:
    seen = view.understood[heard.id]
    before = view.jobs.get(seen.job)
    if before is not None and before.refused == seen.digest:
        return NOTHING  # refused already, in the same words
    known = view.clients.get(seen.client)
    if known is None and before is not None and not _anew(before, heard.message):
        known = (before.id, before.spec.manifest.sha256 if before.spec else before.refused)
    if known is not None and known[1] == seen.digest:
        return NOTHING  # the same client says the same again: it is the same job
    if known is not None:
        text = f"client id {seen.client} was used before with another manifest, for job {known[0]}"
        return _rejected(view, heard, now, seen, Reason(Code.DUPLICATE, text, "client", "use a new client id"))
    if seen.spec is None and heard.delivered == 1 and any(one.code in SETTLING for one in seen.reasons):
        return Decision(again_in=_SETTLE_MS)
    if seen.spec is None:
        return _rejected(view, heard, now, seen, *seen.reasons)
    work = seen.spec.workload
    key = name_key(work.namespace, work.kind, work.name)
    holder = view.names.get(key)
    if holder is not None and heard.message.hub is not None and heard.delivered < _NAME_TRIES:
        return Decision(again_in=_NAME_WAIT_MS)
    if holder is not None:
        text = f"{work.kind} {work.namespace}/{work.name} is live already, as job {holder}"
        remedy = "cancel that one, wait for its end, or choose another name"
        return _rejected(view, heard, now, seen, Reason(Code.DUPLICATE, text, "metadata.name", remedy))
    job = seen.job if before is None else another_id(seen.job, heard.id, seen.digest)
    if job in view.jobs:
        return NOTHING
    if refusal := _too_much(view, heard):
        return _rejected(view, heard, now, seen, refusal)
    teller = Teller(view, SERVICE, heard, now, job)
    teller.say(wire.Admitted, tenant=seen.tenant, attempt=1, spec=seen.spec)
    writes = (
        Put(decision.CLIENTS, seen.client, (job, seen.digest), expect=0),
        Put(decision.NAMES, key, job, expect=0),
    )
    return Decision((teller.step(*writes, *_place(view, heard)),))


def limit_of(message: wire.Submitted, limits: Mapping[str, Limits]) -> Limits:
    """Of who speaks on the bus. What came through the gateway has been let in there, and is not refused afterwards."""
    return limit_for(message.tenant, limits) if message.source == BUS else NONE


def _place(view: View, heard: Heard) -> tuple[Write, ...]:
    """Another admission may take the last place meanwhile."""
    most = limit_of(heard.message, view.limits).pending
    return (Add(decision.PENDING, heard.message.tenant, 0, most=most - 1),) if most else ()


def _too_much(view: View, heard: Heard) -> Reason | None:
    tenant, limit = heard.message.tenant, limit_of(heard.message, view.limits)
    if heard.id in view.hasty:
        return too_fast(tenant, limit)
    return too_many(tenant, limit, view.pending.get(tenant, 0))


def _anew(before: Job, message: Any) -> bool:
    """An object of the hub that was refused and then edited is a new job: who edits it cannot give it a new id."""
    return before.state is State.REJECTED and message.hub is not None


def _rejected(view: View, heard: Heard, now: int, seen: Understood, *reasons: Reason) -> Decision:
    """A refusal is a job of its own that ended at once. Under a used client id it takes another id, so that the job
    which that client made stays as it is."""
    job = seen.job
    if job in view.jobs:
        job = another_id(seen.job, heard.id, seen.digest)
    if job in view.jobs:
        return NOTHING
    message: Any = heard.message
    teller = Teller(view, SERVICE, heard, now, job)
    ref = wire.ManifestRef(heard.sequence, seen.digest, len(bytes(message.manifest)))
    teller.say(
        wire.Rejected, tenant=seen.tenant, reasons=reasons, kind=seen.kind, name=seen.name, client=seen.client,
        manifest=ref, hub=message.hub, api_version=seen.api_version,
    )  # fmt: skip
    return Decision((teller.step(),))
