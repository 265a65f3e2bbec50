"""What stands in the body of a submission: one job, its policies, the client's id. Pure; raises Refused."""

from collections.abc import Sequence
from typing import Any

from fairway.gateway.submissions import Asked, client_problem
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.settings.policies import is_policy


def one_job(documents: Sequence[dict[str, Any]], client: str) -> Asked:
    """The one job among `documents`, the rest being policies. Raises Refused."""
    policies = tuple(one for one in documents if is_policy(one))
    jobs = [one for one in documents if not is_policy(one)]
    if len(jobs) == 1:
        return Asked(jobs[0], policies, client)
    kinds = ", ".join(str(one.get("kind", "?"))[:60] for one in jobs[:5]) or "none"
    text = f"the body holds {len(jobs)} objects that are no policies ({kinds}), not one job"
    raise Refused(Reason(Code.INVALID, text, remedy="send one job in each request, with its policies beside it"))


def from_envelope(body: dict[str, Any], client: str) -> Asked:
    """`{"manifest": {...}, "policies": [...], "client": "..."}`. Raises Refused with the field."""
    unknown = sorted(set(body) - {"manifest", "policies", "client"})
    if unknown:
        raise Refused(Reason(Code.INVALID, "is not known", str(unknown[0])[:80], "use manifest, policies and client"))
    manifest = body.get("manifest")
    policies = body.get("policies") or []
    if not isinstance(manifest, dict):
        raise Refused(Reason(Code.INVALID, "is missing or not an object", "manifest", "put the job's manifest here"))
    if not isinstance(policies, list) or not all(isinstance(one, dict) for one in policies):
        raise Refused(Reason(Code.INVALID, "is not a list of objects", "policies", "put PropagationPolicies here"))
    wrong = next((index for index, one in enumerate(policies) if not is_policy(one)), None)
    if wrong is not None:
        kind = str(policies[wrong].get("kind", "?"))[:60]
        raise Refused(Reason(Code.INVALID, f"{kind} is not a policy", f"policies[{wrong}]", "leave it out"))
    given = body.get("client") or ""
    if not isinstance(given, str):
        raise Refused(Reason(Code.INVALID, "is not a string", "client", "put it in quotes"))
    return Asked(manifest, tuple(policies), client or given)


def check_client(client: str) -> None:
    """Raises Refused when a client id is too long, not printable, or one of the hub's."""
    if why := client_problem(client, "Idempotency-Key"):
        raise Refused(why)
