"""What a policy and a kind rule out, cluster by cluster, whatever room there is."""

from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import Struct

from fairway.placement.constraints import matches, untolerated
from fairway.wire.capacity import ClusterInfo
from fairway.wire.policy import Affinity
from fairway.wire.reasons import Code
from fairway.wire.workload import Expression, Toleration

# A code, and the rule, label, taint, kind or lacking resource that it is about.
Answer = tuple[Code, str]


class WantedClusters(Struct, frozen=True, cache_hash=True):
    """What of a job its clusters have to agree to. Each of `kinds` is `Kind.group/version`, as clusters list it."""

    kinds: tuple[str, ...]
    affinity: Affinity
    tolerations: tuple[Toleration, ...]


def against(info: ClusterInfo, wanted: WantedClusters) -> Answer | None:
    """The first rule against a cluster."""
    affinity = wanted.affinity
    name = info.name
    if affinity.cluster_names and name not in affinity.cluster_names:
        return Code.NOT_SELECTED, "clusterNames"
    if name in affinity.exclude:
        return Code.NOT_SELECTED, "exclude"
    for label in affinity.labels:
        if not matches(label, info.labels):
            return Code.LABELS_DIFFER, _differs(label, info.labels)
    taint = untolerated(info.taints, wanted.tolerations) if info.taints else None
    if taint:
        return Code.TAINTED, f"{taint.key}={taint.value}:{taint.effect}"
    if info.cordoned:
        return Code.CORDONED, ""
    missing = next((kind for kind in wanted.kinds if kind not in info.kinds), None)
    return (Code.KIND_NOT_SERVED, missing) if missing else None


def _differs(label: Expression, labels: Mapping[str, str]) -> str:
    values = f" ({', '.join(label.values)})" if label.values else ""
    here = f"it is {labels[label.key]}" if label.key in labels else "it has none"
    return f"{label.key} {label.operator}{values}; {here}"


class Rules:
    """`against` for every cluster of a fleet: `index` by slot is 0 where nothing is ruled out, else 1 and the place of
    the answer among `answers`. `of_kinds` says by the same numbers which of them are about kinds."""

    def __init__(self, wanted: WantedClusters, clusters: int) -> None:
        self.touched = 0
        self.index = np.zeros(clusters, np.int64)
        self.answers: list[Answer] = []
        self.of_kinds = np.zeros(1, np.uint8)
        self.seen = -1
        self._wanted = wanted
        self._known: dict[Answer, int] = {}

    def judge(self, slots: Iterable[int], infos: Mapping[int, ClusterInfo]) -> None:
        """Judges these clusters (anew)."""
        for slot in slots:
            self.index[slot] = self._number(infos[slot])
        self.of_kinds = np.array([0, *(code is Code.KIND_NOT_SERVED for code, _ in self.answers)], np.uint8)

    def _number(self, info: ClusterInfo) -> int:
        answer = against(info, self._wanted)
        if answer is None:
            return 0
        number = self._known.setdefault(answer, len(self.answers) + 1)
        if number > len(self.answers):
            self.answers.append(answer)
        return number
