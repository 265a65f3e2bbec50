"""Policies and the jobs that wait for one, or for another setting that they name, found by name: ten thousand of both
must not meet pairwise. Pure."""

from typing import Any, TypeVar

from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.settings.policy_index import Key, Name, PolicyIndex, named, selects
from fairway.workloads.settings.policy_limits import Together, size_of

K = TypeVar("K")


class WaitingObjects:
    """`manifests` are those of the good policies, by kind, namespace and name; `together` is how large these are."""

    def __init__(self) -> None:
        self.manifests: dict[Key, dict[str, Any]] = {}
        self.together = Together()
        self._policies = PolicyIndex()
        self.waiting: dict[str, HubObject] = {}
        self._by_name: dict[Name, set[str]] = {}
        self._by_namespace: dict[str, dict[str, None]] = {}
        self._lacking: dict[tuple[str, str], set[str]] = {}
        self._lacks: dict[str, set[tuple[str, str]]] = {}

    def put(self, policy: Policy, manifest: dict[str, Any]) -> list[HubObject]:
        """Takes a policy in or over; returns the waiting jobs that it selects, which are then no longer waiting."""
        self._policies.put(policy)
        self.manifests[policy.kind, policy.namespace, policy.name] = manifest
        self.recall((policy.kind, policy.namespace, policy.name), manifest)
        return [self.leave(uid) for uid in self._candidates(policy) if selects(policy, self.waiting[uid].manifest)]

    def recall(self, key: Key, manifest: dict[str, Any]) -> None:
        """A policy that is in force counts, though it is not selected by before the hub has told of it."""
        self.together.put(key, size_of(cleaned(manifest)))

    def drop(self, key: Key) -> None:
        self.together.drop(key)
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
        self._by_namespace.setdefault(one.namespace, {})[one.uid] = None
        if lacks is not None:
            self._lacking.setdefault(lacks, set()).add(one.uid)
            self._lacks.setdefault(one.uid, set()).add(lacks)
        for namespace in (one.namespace, ""):
            self._by_name.setdefault((namespace, one.kind, one.name), set()).add(one.uid)

    def waits(self) -> list[tuple[HubObject, tuple[tuple[str, str], ...]]]:
        """Those that wait, each with kinds and names of settings that it lacks."""
        return [(one, tuple(sorted(self._lacks.get(uid, ())))) for uid, one in self.waiting.items()]

    def leave(self, uid: str) -> HubObject:
        one = self.waiting.pop(uid)
        for lacks in self._lacks.pop(uid, ()):
            _discard(self._lacking, lacks, uid)
        for namespace in (one.namespace, ""):
            _discard(self._by_name, (namespace, one.kind, one.name), uid)
        there = self._by_namespace[one.namespace]
        del there[uid]
        if not there:
            del self._by_namespace[one.namespace]
        return one

    def _candidates(self, policy: Policy) -> list[str]:
        if all(selector.name for selector in policy.selectors):
            return sorted({uid for one in policy.selectors for uid in self._by_name.get(named(one), ())})
        return list(self._by_namespace.get(policy.namespace, ()) if policy.namespace else self.waiting)


def _discard(uids: dict[K, set[str]], key: K, uid: str) -> None:
    """Out of the set under a key, which goes with its last one."""
    if (found := uids.get(key)) is not None:
        found.discard(uid)
        if not found:
            del uids[key]
