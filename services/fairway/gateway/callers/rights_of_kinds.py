"""Which right of the hub stands for what is done here with an object or a job of some kind. Pure."""

from typing import Any

from fairway.domain.job import Job
from fairway.domain.submission import Asked, names_of
from fairway.gateway.callers.caller import JOBS, RECORD, AccessQuestion
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.settings.policies import NAMESPACED


def submitting(manifest: dict[str, Any]) -> AccessQuestion:
    """To create it on the hub. What is of no known kind will be refused, in the record of its namespace."""
    key = f"{manifest.get('kind')}.{manifest.get('apiVersion')}"
    return _of_kind("create", key, names_of(manifest)[0])


def policies_along(asked: Asked) -> tuple[AccessQuestion, ...]:
    """To create the PropagationPolicies that came with a job. What else came with it admission refuses by name, unless
    the hub has it in the same words."""
    namespace = names_of(asked.manifest)[0]
    along = [one for one in asked.policies if one.get("kind") == NAMESPACED]
    groups = sorted({_group(str(one.get("apiVersion"))) for one in along})
    return tuple(AccessQuestion("create", "propagationpolicies", group, namespace) for group in groups)


def cancelling(job: Job) -> AccessQuestion:
    """To delete it on the hub. What was never understood is over, and there is nothing of it to delete."""
    work = job.spec.workload if job.spec else None
    if work is None:
        return AccessQuestion("get", JOBS, namespace=job.tenant)
    return _of_kind("delete", work.key, job.tenant, work.name)


def reading(job: Job) -> AccessQuestion:
    """To see its manifest: to read it on the hub. One that was never understood is of no kind that says who may."""
    work = job.spec.workload if job.spec else None
    kind = KINDS.get(work.key) if work is not None else None
    if work is None or kind is None:
        return AccessQuestion("get", RECORD, namespace=job.tenant)
    return AccessQuestion("get", kind.plural, _group(kind.api_version), job.tenant, work.name)


def _of_kind(verb: str, key: str, namespace: str, name: str = "") -> AccessQuestion:
    kind = KINDS.get(key)
    if kind is None:
        return AccessQuestion(verb, JOBS, namespace=namespace, name=name)
    return AccessQuestion(verb, kind.plural, _group(kind.api_version), namespace, name)


def setting(one: HubObject) -> tuple[AccessQuestion, ...]:
    """To write it there, whether it is there already or not."""
    where = (_plural(one.plain), _group(one.api_version), one.namespace)
    return AccessQuestion("patch", *where, one.name), AccessQuestion("create", *where)


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _plural(kind: str) -> str:
    """As Kubernetes guesses it, rightly for every kind that is a setting."""
    plain = kind.lower()
    if plain.endswith("s"):
        return f"{plain}es"
    return f"{plain[:-1]}ies" if plain.endswith("y") else f"{plain}s"
