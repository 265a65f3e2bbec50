"""Which clusters are members of the fleet, and what the hub says of them."""

from typing import Any

import msgspec

from fairway.runtime.views.members import Facts


class Membership:
    """`clusters` are the labels of members by name. `left` are the clusters that were members and are none any more;
    `facts` is the hub's word on a cluster, whatever its own agent says of it."""

    def __init__(self) -> None:
        self.clusters: dict[str, dict[str, str]] = {}
        self.facts: dict[str, Facts] = {}
        self.left: set[str] = set()
        self._introduced: dict[str, dict[str, str] | None] = {}
        self._withdrawn: set[str] = set()

    def introduce(self, name: str, said: dict[str, Any] | None) -> None:
        """An agent says that its cluster is there, and its labels; None: that it is withdrawn."""
        self._introduced[name] = None if said is None else said.get("labels") or {}
        self._judge(name)

    def tell(self, name: str, said: dict[str, Any] | None) -> None:
        """The hub's word; None: it is no member any more."""
        facts = None if said is None else msgspec.convert(said, Facts)
        if facts is None:
            self.facts.pop(name, None)
            self._withdrawn.add(name)
        else:
            self.facts[name] = facts
            self._withdrawn.discard(name)
        self._judge(name)

    def _judge(self, name: str) -> None:
        """Who is a member is the hub's to say. An agent's own word counts only where the hub never spoke: its account
        on the bus may outlive its cluster's membership, and one that leaves and comes back would begin anew."""
        said = self.facts.get(name)
        labels = said.labels if said else None if name in self._withdrawn else self._introduced.get(name)
        if labels is None:
            self.clusters.pop(name, None)
            self.left.add(name)
        else:
            self.clusters[name] = labels
            self.left.discard(name)
