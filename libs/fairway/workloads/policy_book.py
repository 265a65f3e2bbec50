"""Policies, found by what they may select: ten thousand policies and as many jobs must not meet pairwise. Pure."""

from collections.abc import Iterator
from typing import Any

from fairway.wire.policy import Policy, Selector

# Kind, namespace (empty: cluster-wide) and name of a policy.
Key = tuple[str, str, str]
# What a selector that gives a name can only select: namespace ("": any), kind with its apiVersion, name.
Name = tuple[str, str, str]


class PolicyBook:
    def __init__(self) -> None:
        self._all: dict[Key, Policy] = {}
        self._named: dict[Name, dict[Key, Policy]] = {}
        self._wide: dict[str, dict[Key, Policy]] = {}

    def __iter__(self) -> Iterator[Key]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: Key) -> Policy | None:
        return self._all.get(key)

    def put(self, policy: Policy) -> None:
        """Takes a policy in, or over."""
        key = (policy.kind, policy.namespace, policy.name)
        self.drop(key)
        self._all[key] = policy
        for place in self._places(policy):
            place[key] = policy

    def drop(self, key: Key) -> None:
        known = self._all.pop(key, None)
        if known is None:
            return
        for place in self._places(known):
            place.pop(key, None)
        for selector in known.selectors:
            if selector.name and not self._named.get(named(selector), True):
                del self._named[named(selector)]

    def near(self, manifest: dict[str, Any]) -> dict[Key, Policy]:
        """Every policy that may select this object, and few others."""
        meta = manifest["metadata"]
        kind, name = f"{manifest['kind']}.{manifest['apiVersion']}", str(meta.get("name") or "")
        found: dict[Key, Policy] = {}
        for namespace in (meta.get("namespace") or "default", ""):
            found |= self._wide.get(namespace, {}) | self._named.get((namespace, kind, name), {})
        return found

    def names(self, namespace: str, kind: str, name: str) -> bool:
        """Whether a policy selects the object by its name."""
        return any(self._named.get((where, kind, name)) for where in (namespace, ""))

    def _places(self, policy: Policy) -> list[dict[Key, Policy]]:
        return [
            self._named.setdefault(named(selector), {})
            if selector.name
            else self._wide.setdefault(policy.namespace or selector.namespace, {})
            for selector in policy.selectors
        ]


def named(selector: Selector) -> Name:
    return selector.namespace, f"{selector.kind}.{selector.api_version}", selector.name
