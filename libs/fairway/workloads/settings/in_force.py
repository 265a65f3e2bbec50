"""The policies that the hub says now: found by what they select and by their title, and how large they are together."""

from typing import Any

from fairway.wire.policy import Policy
from fairway.workloads.settings.label_index import Key
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.policy_index import PolicyIndex
from fairway.workloads.settings.policy_limits import Together, size_of


class PoliciesInForce:
    def __init__(self) -> None:
        self.index = PolicyIndex()
        self.together = Together()
        self.by_title: dict[str, Policy] = {}

    def take(self, title: str, key: Key, manifest: dict[str, Any] | None) -> None:
        """One that does not read leaves the last good one in force; None withdraws it."""
        if manifest is None:
            self.index.drop(key)
            self.together.drop(key)
            self.by_title.pop(title, None)
        else:
            policy = self.by_title[title] = read_policy(manifest)
            self.index.put(policy)
            self.together.put(key, size_of(manifest))
