"""Strategic merge patch and server-side apply: merges that know which lists are maps.

Which list is keyed by what: `patchMergeKey` of the types in k8s.io/api/core/v1. A list that is not named
here is replaced as a whole, which is also what Kubernetes does with the lists of a custom resource.
"""

from typing import Any

from fairway.lab.kubesim.api.errors import Json

KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "ports": "containerPort",
    "conditions": "type",
    "ownerReferences": "uid",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}
SETS = ("finalizers",)


def strategic_merge(target: Any, patch: Any) -> Any:
    """`patch` over `target` (changed in place), with the directives $patch, $retainKeys,
    $deleteFromPrimitiveList and $setElementOrder (whose order is ignored)."""
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch") == "replace" or not isinstance(target, dict):
        return strategic_merge({}, {k: v for k, v in patch.items() if k != "$patch"})
    if "$retainKeys" in patch:
        target = {key: value for key, value in target.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            listed = key.partition("/")[2]
            target[listed] = [item for item in target.get(listed, ()) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            target.pop(key, None)
        elif isinstance(value, list):
            target[key] = _merge_list(key, target.get(key) or [], value)
        else:
            target[key] = strategic_merge(target.get(key), value)
    return target


def _merge_list(name: str, target: list[Any], patch: list[Any]) -> list[Any]:
    if name in SETS:
        return target + [item for item in patch if item not in target]
    merge_key = KEYS.get(name)
    if not merge_key or any(not isinstance(item, dict) for item in (*target, *patch)):
        return patch
    if any(item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if item.get("$patch") != "replace"]
    merged = {item.get(merge_key): item for item in target}
    for item in patch:
        at = item.get(merge_key)
        if item.get("$patch") == "delete":
            merged.pop(at, None)
        else:
            merged[at] = strategic_merge(merged.get(at, {}), item)
    return list(merged.values())


def apply(live: Any, before: Any, now: Any, keyed: bool) -> Any:
    """Server-side apply of one manager: what `before` had and `now` lacks goes, what `now` has is set.

    `live` is changed in place. `keyed`: lists of KEYS are maps (built-in kinds); else every list is atomic.
    """
    if not isinstance(now, dict):
        return now
    if not isinstance(live, dict):
        live = {}
    if isinstance(before, dict):
        for key in before.keys() - now.keys():
            live.pop(key, None)
    for key, value in now.items():
        former = before.get(key) if isinstance(before, dict) else None
        if keyed and isinstance(value, list) and (key in KEYS or key in SETS):
            live[key] = _apply_list(key, live.get(key) or [], former or [], value)
        else:
            live[key] = apply(live.get(key), former, value, keyed)
    return live


def _apply_list(name: str, live: list[Any], before: list[Any], now: list[Any]) -> list[Any]:
    if name in SETS:
        kept = [item for item in live if item not in before or item in now]
        return kept + [item for item in now if item not in kept]
    merge_key = KEYS[name]
    if any(not isinstance(item, dict) for item in (*live, *before, *now)):
        return now
    wanted = {item.get(merge_key) for item in now}
    former = {item.get(merge_key): item for item in before}
    merged = {
        item.get(merge_key): item for item in live if item.get(merge_key) in wanted or item.get(merge_key) not in former
    }
    for item in now:
        at = item.get(merge_key)
        merged[at] = apply(merged.get(at), former.get(at), item, keyed=True)
    return list(merged.values())


def disagreements(mine: Any, theirs: Any, path: str = "") -> list[str]:
    """Paths that both managers set, to different values."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return [
            found for key in mine if key in theirs for found in disagreements(mine[key], theirs[key], f"{path}.{key}")
        ]
    return [] if mine == theirs else [path]


def applied_config(body: Json) -> Json:
    """What a manager claims: the body without what identifies the object."""
    skipped = ("name", "namespace", "uid", "resourceVersion", "managedFields", "creationTimestamp")
    metadata = {key: value for key, value in (body.get("metadata") or {}).items() if key not in skipped}
    config = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**config, "metadata": metadata}
