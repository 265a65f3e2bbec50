"""Fairway's definitions on a hub, and where objects of their kinds are."""

from fairway.workloads.crds import definitions
from tests.kubernetes.support.fleet import Api, until

CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"


def define(hub: Api, only: str = "") -> None:
    """Fairway's definitions, or the one of that name; returns when they are served."""
    wanted = [one for name, one in definitions().items() if only in ("", name)]
    for one in wanted:
        hub.create(CRDS, one)
    names = {one["metadata"]["name"] for one in wanted}

    def served() -> bool:
        return names <= {one["metadata"]["name"] for one in hub.items(CRDS) if _established(one)}

    until(served, "the definitions are served")


def _established(crd: dict) -> bool:  # type: ignore[type-arg]  # plain JSON
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any((one["type"], one["status"]) == ("Established", "True") for one in conditions)


def path_of(manifest: dict) -> str:  # type: ignore[type-arg]  # plain JSON
    """Where objects of its kind are created."""
    group = manifest["apiVersion"].partition("/")[0]
    spec = next(
        one["spec"]
        for one in definitions().values()
        if (one["spec"]["group"], one["spec"]["names"]["kind"]) == (group, manifest["kind"])
    )
    namespace = manifest["metadata"].get("namespace") or "default"
    where = f"namespaces/{namespace}/" if spec["scope"] == "Namespaced" else ""
    return f"{manifest['apiVersion']}/{where}{spec['names']['plural']}"
