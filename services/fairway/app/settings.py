"""Where everything is: from the environment, with defaults for a laptop."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct


class Settings(Struct, frozen=True):
    """`clusters_dir` holds one kubeconfig a member cluster, `<name>.kubeconfig`, and optionally `<name>.json` with its
    labels and taints; `http_port` 0 means any free one; `public_url` is where others reach the door. `allow_loopback`:
    joined clusters may be on this machine. In seconds: `watch_silence`, for which the silence of a watch is trusted,
    and `node_grace`, for which pods may stay on a node that is away."""

    nats_url: str = "nats://127.0.0.1:4222"
    redis_url: str = "redis://127.0.0.1:6379/0"
    hub_kubeconfig: str = ""
    clusters_dir: str = ""
    http_host: str = "127.0.0.1"
    http_port: int = 0
    insecure: bool = False
    only_cluster: str = ""
    stub_clusters: bool = False
    replicas: int = 1
    public_url: str = ""
    placeholder_image: str = ""
    allow_loopback: bool = False
    watch_silence: float = 70.0
    node_grace: float = 60.0

    def members(self) -> dict[str, Path]:
        """Kubeconfigs of the member clusters by name."""
        if not self.clusters_dir:
            return {}
        found = sorted(Path(self.clusters_dir).glob("*.kubeconfig"))
        return {path.name.removesuffix(".kubeconfig"): path for path in found if path.stem != "hub"}


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """FAIRWAY_NATS_URL, FAIRWAY_REDIS_URL, FAIRWAY_HUB_KUBECONFIG, FAIRWAY_CLUSTERS_DIR, FAIRWAY_HTTP_HOST,
    FAIRWAY_HTTP_PORT, FAIRWAY_INSECURE, FAIRWAY_REPLICAS, FAIRWAY_PUBLIC_URL, FAIRWAY_PLACEHOLDER_IMAGE,
    FAIRWAY_ALLOW_LOOPBACK, FAIRWAY_WATCH_SILENCE, FAIRWAY_NODE_GRACE."""
    plain = Settings()

    def text(name: str, default: str) -> str:
        return environment.get(f"FAIRWAY_{name}", default)

    return Settings(
        nats_url=text("NATS_URL", plain.nats_url),
        redis_url=text("REDIS_URL", plain.redis_url),
        hub_kubeconfig=text("HUB_KUBECONFIG", ""),
        clusters_dir=text("CLUSTERS_DIR", ""),
        http_host=text("HTTP_HOST", plain.http_host),
        http_port=int(text("HTTP_PORT", "0")),
        insecure=text("INSECURE", "") in ("1", "true", "yes"),
        stub_clusters=bool(text("STUB_CLUSTERS", "")),
        replicas=int(text("REPLICAS", "1")),
        public_url=text("PUBLIC_URL", "").rstrip("/"),
        placeholder_image=text("PLACEHOLDER_IMAGE", ""),
        allow_loopback=text("ALLOW_LOOPBACK", "") in ("1", "true", "yes"),
        watch_silence=float(text("WATCH_SILENCE", str(plain.watch_silence))),
        node_grace=float(text("NODE_GRACE", str(plain.node_grace))),
    )
