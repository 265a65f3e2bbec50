"""Policies and the jobs that wait for one, or for another setting that they name, found by name: ten thousand of both
must not meet pairwise. Pure."""

from typing import Any

from fairway.gateway.hub_objects import HubObject, cleaned
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason
from fairway.workloads.policy_book import Key, Name, PolicyBook, named, selects


class WaitingRoom:
    """`manifests` are those of the good policies, by kind, namespace and name."""

    def __init__(self) -> None:
        self.manifests: dict[Key, dict[str, Any]] = {}
        self._policies = PolicyBook()
        self.waiting: dict[str, HubObject] = {}
        self._by_name: dict[Name, set[str]] = {}
        self._lacking: dict[tuple[str, str], set[str]] = {}

    def put(self, policy: Policy, manifest: dict[str, Any]) -> list[HubObject]:
        """Takes a policy in or over; returns the waiting jobs that it selects, which are then no longer waiting."""
        self._policies.put(policy)
        self.manifests[policy.kind, policy.namespace, policy.name] = manifest
        return [self.leave(uid) for uid in self._candidates(policy) if selects(policy, self.waiting[uid].manifest)]

    def drop(self, key: Key) -> None:
        self._policies.drop(key)
        self.manifests.pop(key, None)

    def policy_for(self, one: HubObject) -> tuple[dict[str, Any], ...] | Reason:
        """The manifest of the policy that decides for an object; none of them when two are equal, so that admission
        refuses it; or the reason why it has to wait."""
        chosen = self._policies.select(one.manifest)
        if isinstance(chosen, Policy):
            return (self.manifests[chosen.kind, chosen.namespace, chosen.name],)
        reason = chosen.reasons[0]
        return reason if reason.code is Code.NO_POLICY else ()

    def named(self, one: HubObject) -> bool:
        """Whether a policy selects it by its name: hardly anything more fitting can still come."""
        return self._policies.names(one.namespace, one.kind, one.name)

    def came(self, kind: str, name: str) -> list[HubObject]:
        """A setting is there now: the jobs that waited for it, which are then no longer waiting."""
        return [self.leave(uid) for uid in sorted(self._lacking.pop((kind, name), ())) if uid in self.waiting]

    def wait(self, one: HubObject, lacks: tuple[str, str] | None = None) -> None:
        """`lacks`: kind and name of a setting that it names and that is not there."""
        self.waiting[one.uid] = one
        if lacks is not None:
            self._lacking.setdefault(lacks, set()).add(one.uid)
        for namespace in (one.namespace, ""):
            self._by_name.setdefault((namespace, one.kind, one.name), set()).add(one.uid)

    def leave(self, uid: str) -> HubObject:
        one = self.waiting.pop(uid)
        for lacks in [lacks for lacks, uids in self._lacking.items() if uid in uids]:
            self._lacking[lacks].discard(uid)
            if not self._lacking[lacks]:
                del self._lacking[lacks]
        for namespace in (one.namespace, ""):
            name = (namespace, one.kind, one.name)
            self._by_name[name].discard(uid)
            if not self._by_name[name]:
                del self._by_name[name]
        return one

    def _candidates(self, policy: Policy) -> list[str]:
        if all(selector.name for selector in policy.selectors):
            return sorted({uid for one in policy.selectors for uid in self._by_name.get(named(one), ())})
        return list(self.waiting)


def policy_copy(one: HubObject) -> dict[str, Any]:
    """The policy as it goes along with a job: with its version, which the record keeps."""
    return cleaned(one.manifest, keep_version=True)
