"""Mutexes and semaphores of an Argo workflow.

Argo knows them by namespace and name, and lets any workflow take those of any namespace: whoever holds another's keeps
the other's jobs from running."""

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown

_ONE = ("mutex", "semaphore")
_MANY = ("mutexes", "semaphores")


def check_locks(synchronization: Field, namespace: str, ruling: Ruling) -> None:
    """Those of the workflow's own namespace alone, however it is written."""
    if not synchronization.given:
        return
    locks = [synchronization[name] for name in _ONE]
    locks += [lock for name in _MANY for lock in synchronization[name].items()]
    for lock in locks:
        named = lock["namespace"]
        if named.value not in (None, "", namespace):
            late = isinstance(named.value, str) and "{{" in named.value
            text = "names a namespace only at run time" if late else f"takes a lock of namespace {shown(named.value)}"
            ruling.never(PodView(named), text, f"leave it out: locks are those of {namespace}")
