"""Which clusters are members of the fleet, and what the hub says of them."""

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

    def introduce(self, name: str, labels: dict[str, str] | None) -> None:
        """An agent says that its cluster is there; None: that it is withdrawn."""
        self._introduced[name] = labels
        self._judge(name)

    def join(self, name: str, facts: Facts) -> None:
        self.facts[name] = facts
        self._withdrawn.discard(name)
        self._judge(name)

    def withdraw(self, name: str) -> None:
        self.facts.pop(name, None)
        self._withdrawn.add(name)
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
