"""What policies say to the clusters of a fleet, kept from one choice to the next."""

from collections.abc import Mapping

import numpy as np

from fairway.placement.engine.change_log import ChangeLog
from fairway.placement.policy_rules import Rules, WantedClusters
from fairway.wire.capacity import ClusterInfo

MOST_RULES = 256


class PolicyRules:
    """What policies say to clusters, by slot."""

    def __init__(self, infos: Mapping[int, ClusterInfo] | None = None) -> None:
        self._infos = dict(infos or {})
        self._kept: dict[WantedClusters, Rules] = {}
        self._changed = ChangeLog()
        self._asks = 0

    def inform(self, slot: int, info: ClusterInfo) -> None:
        if _facts(self._infos[slot]) != _facts(info):
            self._changed.add(np.array([slot], np.int64))
        self._infos[slot] = info

    def of(self, wanted: WantedClusters) -> Rules:
        rules = self._kept.get(wanted)
        if rules is None or len(rules.answers) > 2 * len(self._infos) + 64:  # answers of facts that are no more
            while len(self._kept) >= MOST_RULES:
                del self._kept[min(self._kept, key=lambda one: self._kept[one].touched)]
            rules = self._kept[wanted] = Rules(wanted, max(self._infos, default=-1) + 1)
        self._asks = rules.touched = self._asks + 1
        if rules.seen != self._changed.version:
            changed = self._changed.since(rules.seen)
            rules.judge(self._infos if changed is None else changed.tolist(), self._infos)
            rules.seen = self._changed.version
        return rules


def _facts(info: ClusterInfo) -> tuple[object, ...]:
    """What rules look at."""
    return info.labels, info.taints, info.kinds, info.cordoned
