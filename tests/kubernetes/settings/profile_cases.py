"""Profiles of tenants, good and bad: the hub's definition and Fairway's reader must agree on each."""

from typing import Any

from fairway.workloads.settings.tenant_profiles import MOST_NAMES
from tests.kubernetes.settings.fleet import profile

Json = dict[str, Any]
PROFILES: dict[str, Json] = {
    "the smallest profile": profile(),
    "a full profile": profile(
        serviceAccounts=["trainer"],
        priorityClasses=["low"],
        queues=["gold"],
        quotaLeaves=["root/a"],
        clusters=["north"],
        schedulers=["koord-scheduler"],
        runtimeClasses=["gvisor"],
        podSecurity="restricted",
        tolerations=[{"operator": "Exists"}],
        automountServiceAccountToken=True,
    ),
    "a profile of nobody": profile(namespaces=[]),
    "a profile without namespaces": {**profile(), "spec": {"queues": ["gold"]}},
    "a profile of a namespace that is none": profile(namespaces=["No!"]),
    "a profile with a misspelt bound": profile(cluster=["north"]),
    "a profile of an unknown level": profile(podSecurity="open"),
    "a profile with an empty name": profile(clusters=[""]),
    "a profile of a long name": {**profile(), "metadata": {"name": "p" * 64}},
    "a profile with a toleration of nothing": profile(tolerations=[{"value": "x"}]),
    "a profile with a word for true": profile(automountServiceAccountToken="yes"),
    "a profile of too many names": profile(queues=[f"q{n}" for n in range(MOST_NAMES + 1)]),
}
