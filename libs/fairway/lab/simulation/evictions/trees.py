"""The quota trees of a fleet in which jobs evict others: guaranteed shares of different sizes, little patience."""

import json
from random import Random
from typing import Any

from fairway.domain.quota.node_terms import (
    BY_SHARE,
    DOMAIN,
    LEND_LIMIT,
    MAX_EVICTIONS,
    MIN_RUNTIME,
    NEVER,
    ORDER,
    PREEMPT_AFTER,
    PREEMPT_POLICY,
    RECLAIM_AFTER,
    WEIGHT,
)
from fairway.lab.simulation.members.pods import GPU

Json = dict[str, Any]
# In seconds.
RECLAIMS_S = 1
_TIMES = {RECLAIM_AFTER: f"{RECLAIMS_S}s", PREEMPT_AFTER: "2s", MIN_RUNTIME: "5s"}


class Trees:
    """Drawn apart from the rest. What a node has for good, min and max, follows from the scale alone: who was admitted
    because it fits its min fits it in the end, too."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"eviction trees {seed}")

    def drawn(self, scale: int) -> Json:
        return self._tree(scale, self._leaf_terms)

    def last(self, scale: int) -> Json:
        """One that keeps nobody waiting for ever: everything is lent."""
        return self._tree(scale, lambda least: {})

    def _tree(self, scale: int, terms: Any) -> Json:
        quarter = scale // 4
        most = scale * 7 // 8
        leaves: list[Json] = [
            {"name": name, "namespaces": [f"team-{name}"], "min": {GPU: least}, "max": {GPU: most}}
            | {"attributes": terms(least)}
            for name, least in (("a", quarter), ("b", quarter), ("c", quarter // 2))
        ]
        shared: Json = {"name": "shared", "min": {GPU: scale // 2}, "max": {GPU: most}, "children": leaves[1:]}
        shared["attributes"] = {DOMAIN: "true"} if self._rng.random() < 0.5 else {}
        order: Json = {ORDER: BY_SHARE} if self._rng.random() < 0.3 else {}
        often: Json = {MAX_EVICTIONS: self._rng.choice(("1", "2", "5"))}
        root: Json = {"name": "root", "min": {GPU: scale}, "max": {GPU: scale}, "children": [leaves[0], shared]}
        root["attributes"] = {**_TIMES, **often, **order}
        return {
            "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
            "kind": "ElasticQuotaTree",
            "metadata": {"name": "tree", "namespace": "kube-system"},
            "spec": {"root": root},
        }

    def _leaf_terms(self, least: int) -> Json:
        rng = self._rng
        terms = {WEIGHT: rng.choice(("1", "2", "3"))}
        if rng.random() < 0.25:
            terms[LEND_LIMIT] = json.dumps({GPU: least // 2})
        if rng.random() < 0.15:
            terms[PREEMPT_POLICY] = NEVER
        return terms
