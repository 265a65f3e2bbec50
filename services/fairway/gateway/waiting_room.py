"""Policies and the jobs that wait for one, found by name: ten thousand of both must not meet pairwise. Pure."""

from typing import Any

from fairway.gateway.hub_objects import HubObject, cleaned
from fairway.wire.policy import Policy, Selector
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.policies import select

Key = tuple[str, str, str]
# What a selector that gives a name can only select: namespace ("": any), kind, name.
_Name = tuple[str, str, str]


class WaitingRoom:
    """`policies` are the good ones by kind, namespace and name, with their manifests."""

    def __init__(self) -> None:
        self.policies: dict[Key, tuple[Policy, dict[str, Any]]] = {}
        self._named: dict[_Name, dict[Key, Policy]] = {}
        self._wide: dict[str, dict[Key, Policy]] = {}
        self.waiting: dict[str, HubObject] = {}
        self._by_name: dict[_Name, set[str]] = {}

    def put(self, policy: Policy, manifest: dict[str, Any]) -> list[HubObject]:
        """Takes a policy in or over; returns the waiting jobs that it selects, which are then no longer waiting."""
        key = (policy.kind, policy.namespace, policy.name)
        self.drop(key)
        self.policies[key] = (policy, manifest)
        for place in self._places(policy):
            place[key] = policy
        return [self.leave(uid) for uid in self._candidates(policy) if self._selects(policy, self.waiting[uid])]

    def drop(self, key: Key) -> None:
        if (known := self.policies.pop(key, None)) is not None:
            for place in self._places(known[0]):
                place.pop(key, None)

    def _places(self, policy: Policy) -> list[dict[Key, Policy]]:
        return [
            self._named.setdefault(_named(selector), {})
            if selector.name
            else self._wide.setdefault(policy.namespace or selector.namespace, {})
            for selector in policy.selectors
        ]

    def policy_for(self, one: HubObject) -> tuple[dict[str, Any], ...] | Reason:
        """The manifest of the policy that decides for an object; none of them when two are equal, so that admission
        refuses it; or the reason why it has to wait."""
        found: dict[Key, Policy] = {}
        for namespace in (one.namespace, ""):
            found |= self._wide.get(namespace, {}) | self._named.get((namespace, one.kind, one.name), {})
        chosen = select(found.values(), one.manifest)
        if isinstance(chosen, Policy):
            return (self.policies[chosen.kind, chosen.namespace, chosen.name][1],)
        reason = chosen.reasons[0]
        return reason if reason.code is Code.NO_POLICY else ()

    def named(self, one: HubObject) -> bool:
        """Whether a policy selects it by its name: hardly anything more fitting can still come."""
        return any(self._named.get((namespace, one.kind, one.name)) for namespace in (one.namespace, ""))

    def wait(self, one: HubObject) -> None:
        self.waiting[one.uid] = one
        for namespace in (one.namespace, ""):
            self._by_name.setdefault((namespace, one.kind, one.name), set()).add(one.uid)

    def leave(self, uid: str) -> HubObject:
        one = self.waiting.pop(uid)
        for namespace in (one.namespace, ""):
            name = (namespace, one.kind, one.name)
            self._by_name[name].discard(uid)
            if not self._by_name[name]:
                del self._by_name[name]
        return one

    def _candidates(self, policy: Policy) -> list[str]:
        if all(selector.name for selector in policy.selectors):
            return sorted({uid for one in policy.selectors for uid in self._by_name.get(_named(one), ())})
        return list(self.waiting)

    def _selects(self, policy: Policy, one: HubObject) -> bool:
        return not isinstance(select([policy], one.manifest), Refused)


def _named(selector: Selector) -> _Name:
    return selector.namespace, f"{selector.kind}.{selector.api_version}", selector.name


def policy_copy(one: HubObject) -> dict[str, Any]:
    """The policy as it goes along with a job: with its version, which the record keeps."""
    return cleaned(one.manifest, keep_version=True)
