"""What attempts were promised of nodes, beside what was seen there."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from fairway.domain.resources import Resources
from fairway.wire.capacity import Node, Slot


class Promise(Struct, frozen=True):
    """What an attempt was given: slots, what one pod of each pod set takes, and the namespace where its pods are."""

    cluster: str
    slots: tuple[Slot, ...]
    requests: dict[str, Resources]
    namespace: str = ""

    def planned(self, seen: Mapping[str, Mapping[str, int]]) -> dict[str, Resources]:
        """What is still kept free by node, after the pods `seen` by pod set and node: as many slots as there are pods
        to come, in the order of the plan, leaving out those that were taken as planned."""
        to_come: dict[str, int] = {}
        for slot in self.slots:
            to_come[slot.pods] = to_come.get(slot.pods, 0) + slot.count
        for pods, places in seen.items():
            to_come[pods] = to_come.get(pods, 0) - sum(places.values())
        kept: dict[str, Resources] = {}
        for slot in self.slots:
            open_here = slot.count - seen.get(slot.pods, {}).get(slot.node, 0)
            count = max(0, min(open_here, to_come[slot.pods]))
            to_come[slot.pods] -= count
            _add(kept.setdefault(slot.node, {}), self.requests.get(slot.pods, {}), count)
        return kept


def taken(given: Mapping[str, Promise], state: Mapping[str, Node], node: str) -> Resources:
    """What is promised or used on `node`: other people's pods, ours that were seen there, ours that are to come."""
    total: Resources = {}
    row = state.get(node)
    if row is not None:
        _add(total, row.used, 1)
        for pods in row.attempts.values():
            _add(total, pods.requests, 1)
    for key, promise in given.items():
        _add(total, promise.planned(_seen(key, promise.namespace, state)).get(node, {}), 1)
    return total


def _seen(key: str, namespace: str, state: Mapping[str, Node]) -> dict[str, dict[str, int]]:
    """An attempt's own pods by pod set and node. Where pods of other namespaces say on the same node that they are of
    it too, each namespace has its own line."""
    seen: dict[str, dict[str, int]] = {}
    lines = (key, f"{key}@{namespace}")
    for name, there in state.items():
        for own in (there.attempts[line] for line in lines if line in there.attempts):
            if own.namespace in ("", namespace):
                for pods, count in own.counts.items():
                    _add(seen.setdefault(pods, {}), {name: count}, 1)
    return seen


def _add(total: dict[str, Any], amounts: Mapping[str, int], times: int) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount * times
