"""Whose token a job's pods get in a member: none, where nobody gave the tenant a right to one."""

from typing import Any

from fairway.workloads.kinds.kind import Kind, reach
from fairway.workloads.reading.fields import Field, Problems

_MOUNT = "automountServiceAccountToken"


def withhold(kind: Kind, copy: dict[str, Any]) -> None:
    """No token in any pod; where it is needed, the account that the operator's chart makes, and no other."""
    for pod in kind.pod_templates(Field(copy, Problems())):
        if pod.template is not None and not pod.needs_token:
            spec = pod.template.value or reach(copy, pod.template.way)
            if spec.get(_MOUNT) is None:
                spec[_MOUNT] = False
        elif kind.account and not any(one.text() for one in pod.accounts):
            *way, name = pod.accounts[-1].way
            reach(copy, tuple(way))[str(name)] = kind.account
