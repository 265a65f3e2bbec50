"""A hub of one's own: an API server with Fairway's definitions alone, for tests that would disturb others."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleet import Api, until

from fairway.kubereal.build import tools
from fairway.kubereal.plane import Planes, Spec
from fairway.workloads.crds import definitions

CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"


@contextmanager
def own_hub(dir: Path) -> Iterator[Api]:
    """Ready in about five seconds, and ended however the block ends."""
    # A loop factory of our own keeps asyncio.Runner from touching the loop that pytest-asyncio set.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        planes = Planes(dir, tools())
        try:
            runner.run(planes.start([Spec("hub")]))
            api = Api("hub", planes["hub"].kubeconfig)
            try:
                yield api
            finally:
                api.http.close()
        finally:
            runner.run(planes.stop())


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
