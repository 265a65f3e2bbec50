"""Is this a job, is it new, and may it be known by this name? Then it is admitted; else it is told why not. Another
manifest of a job that is there is looked at as strictly (revise.py)."""

from fairway.admission.named_settings import SETTLING
from fairway.admission.pending_limit import place, too_much
from fairway.admission.revise import revise
from fairway.admission.understand import Understood
from fairway.admission.view import SERVICE, View
from fairway.domain import decision
from fairway.domain.decision import NOTHING, Decision, Heard, Put
from fairway.domain.events import Teller, another_id, name_key
from fairway.domain.job import Job
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# An object that was deleted and created again has to wait until nothing of the old one is left; looked at this often
# (ms), and for about a minute.
_NAME_WAIT_MS = 250
_NAME_TRIES = 240
_SETTLE_MS = 250


def decide(view: View, heard: Heard[wire.Manifested], now: int) -> Decision:
    if isinstance(heard.message, wire.Revise):
        return revise(view, heard, heard.message, now)
    return _submission(view, heard, now)


def _submission(view: View, heard: Heard[wire.Manifested], now: int) -> Decision:
    seen = view.understood[heard.id]
    before = view.jobs.get(seen.job)
    if before is not None and before.refused_as == seen.digest:
        return NOTHING  # refused already, in the same words
    known = _known_client(view, heard, seen)
    if known is not None and seen.digest in (known[1], _counts_now(before)):
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
    if refusal := too_much(view, heard):
        return _rejected(view, heard, now, seen, refusal)
    teller = Teller(view, SERVICE, heard, now, job)
    teller.say(wire.Admitted, tenant=seen.tenant, attempt=1, spec=seen.spec)
    writes = (
        Put(decision.CLIENTS, seen.client, (job, seen.digest), expect=int(seen.client in view.clients)),
        Put(decision.NAMES, key, job, expect=0),
    )
    return Decision((teller.step(*writes, *place(view, heard)),))


def _known_client(view: View, heard: Heard[wire.Manifested], seen: Understood) -> tuple[str, str] | None:
    """The job that this client id made before, and the digest of its manifest. Without a digest it was refused, and the
    client may ask for another one."""
    known = view.clients.get(seen.client)
    if known is not None and not known[1]:
        return None
    before = view.jobs.get(seen.job)
    if known is None and before is not None and not before.asked_anew:
        return before.id, before.submitted_as.sha256 if before.submitted_as else before.refused
    return known


def _counts_now(job: Job | None) -> str:
    """The digest of its manifest, which may be another one than was submitted."""
    return job.spec.manifest.sha256 if job is not None and job.spec is not None else ""


def _rejected(view: View, heard: Heard[wire.Manifested], now: int, seen: Understood, *reasons: Reason) -> Decision:
    """A refusal is a job of its own that ended at once. Under a used client id it takes another id, so that the job
    which that client made stays as it is."""
    job = seen.job
    if job in view.jobs:
        job = another_id(seen.job, heard.id, seen.digest)
    if job in view.jobs:
        return NOTHING
    message = heard.message
    teller = Teller(view, SERVICE, heard, now, job)
    ref = wire.ManifestRef(heard.sequence, seen.digest, len(bytes(message.manifest)))
    teller.say(
        wire.Rejected,
        tenant=seen.tenant,
        reasons=reasons,
        kind=seen.kind,
        name=seen.name,
        client=seen.client,
        manifest=ref,
        hub=message.hub,
        api_version=seen.api_version,
    )
    return Decision((teller.step(),))
