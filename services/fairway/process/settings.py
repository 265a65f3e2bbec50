"""Where everything is: from the environment, with defaults for a laptop."""

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path

from msgspec import Struct

from fairway.domain.quota.tree import listed
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces
from fairway.gateway.callers.hosts import Networks
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.placement.scores import Weights, read_weights
from fairway.workloads.reading.names import is_namespace

NO_LONGER_INSECURE = (
    "the gateway asks every caller for a token that the hub knows, and may listen anywhere (FAIRWAY_HTTP_HOST); "
    "without a hub set FAIRWAY_HTTP_KEY_FILE to a file with a key a line"
)


class Settings(Struct, frozen=True):
    """`clusters_dir` holds one kubeconfig a member cluster, `<name>.kubeconfig`, and optionally `<name>.json` with its
    labels and taints; `http_port` 0 means any free one; `public_url` is where others reach the door, `http_hosts` are
    other names that it answers to, `http_key_file` holds keys of its operators. `allow_loopback`: joined clusters may
    be on this machine; `service_account` is where a pod's token and CA lie; `fleet_key_file` holds the fleet's key in
    place of the hub. In seconds: `watch_silence`, for which the silence of a watch is trusted, and `node_grace`, for
    which pods may stay on a node that is away. What the scheduler saw is kept for `views_days`, up to `views_mib`; 0:
    not at all. `namespaces` of the hub are those who run the fleet's, and the system's."""

    nats_url: str = "nats://127.0.0.1:4222"
    redis_url: str = "redis://127.0.0.1:6379/0"
    hub_kubeconfig: str = ""
    clusters_dir: str = ""
    http_host: str = "127.0.0.1"
    http_port: int = 0
    http_key_file: str = ""
    http_hosts: tuple[str, ...] = ()
    limits: HttpLimits = HttpLimits()
    only_cluster: str = ""
    replicas: int = 1
    public_url: str = ""
    placeholder_image: str = ""
    allow_loopback: bool = False
    service_account: str = "/var/run/secrets/kubernetes.io/serviceaccount"
    watch_silence: float = 70.0
    node_grace: float = 60.0
    views_days: int = 7
    views_mib: int = 1024
    # Of a hundred parts of the time; the rest is said to be missing.
    views_share: int = 100
    namespaces: SystemNamespaces = SYSTEM_NAMESPACES
    # Where metrics are told: FAIRWAY_METRICS_HOST and FAIRWAY_METRICS_PORT, 0 for any free one.
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0
    fleet_key_file: str = ""
    # Before the door: whose X-Forwarded-For counts.
    http_proxies: Networks = ()
    # For how long after the end of its job a manifest stays in the record, in seconds; 0: for ever.
    manifests_kept: int = 0
    weights: Weights = Weights()
    # A folder with the files `nats` and `valkey`, each of a user and its password (logins.py).
    credentials_dir: str = ""

    def members(self) -> dict[str, Path]:
        """Kubeconfigs of the member clusters by name."""
        if not self.clusters_dir:
            return {}
        found = sorted(Path(self.clusters_dir).glob("*.kubeconfig"))
        return {path.name.removesuffix(".kubeconfig"): path for path in found if path.stem != "hub"}


def _whole(name: str, given: str, least: int, most: int) -> int:
    with contextlib.suppress(ValueError):
        if least <= (number := int(given)) <= most:
            return number
    raise ValueError(f"FAIRWAY_{name} is {given!r}; set it to a whole number from {least} to {most}, or leave it out")


def _seconds(name: str, given: str) -> float:
    with contextlib.suppress(ValueError):
        if 1 <= (number := float(given)) <= 3_600:
            return number
    raise ValueError(f"FAIRWAY_{name} is {given!r}; set it to a number from 1 to 3600 (seconds), or leave it out")


# By then no door says a message once more under its id, and nobody tries one again.
_LEAST_KEPT_S = 600
_UNITS = {"m": 60, "h": 3_600, "d": 86_400}


def _kept(name: str, given: str) -> int:
    """In seconds; 0: for ever."""
    found = re.fullmatch(r"([0-9]{1,6})([mhd])", given)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if given != "0" and seconds < _LEAST_KEPT_S:
        text = "set it to a time of at least 10m, such as 30d or 12h, or to 0 or nothing: for ever"
        raise ValueError(f"FAIRWAY_{name} is {given[:80]!r}; {text}")
    return seconds


def _weights(name: str, given: str) -> Weights:
    try:
        return read_weights(given)
    except ValueError as error:
        raise ValueError(f"FAIRWAY_{name}: {error}, or leave the variable out") from None


def _namespaces(name: str, given: str) -> frozenset[str]:
    text = "set it to names of namespaces, separated by commas, or leave it out"
    for one in (names := listed(given)):
        if not is_namespace(one):
            raise ValueError(f"FAIRWAY_{name} names {one[:80]!r}, which is no name of a namespace; {text}")
    if given and not names:
        raise ValueError(f"FAIRWAY_{name} is {given[:80]!r}, which names no namespace; {text}")
    return frozenset(names)


def _networks(name: str, given: str) -> Networks:
    found = []
    for one in given.replace(",", " ").split():
        try:
            found.append(ip_network(one))
        except ValueError as error:
            text = "set it to addresses or networks (10.0.0.7, 10.2.0.0/16), separated by commas, or leave it out"
            raise ValueError(f"FAIRWAY_{name} names {one[:80]!r}: {error}; {text}") from None
    return tuple(found)


def _system_namespaces(text: Callable[[str, str], str]) -> SystemNamespaces:
    return SystemNamespaces(
        _namespaces("ADMIN_NAMESPACES", text("ADMIN_NAMESPACES", ",".join(SYSTEM_NAMESPACES.admin))),
        _namespaces("RESERVED_NAMESPACES", text("RESERVED_NAMESPACES", "")),
    )


def _limits(text: Callable[[str, str], str]) -> HttpLimits:
    plain = HttpLimits()
    return HttpLimits(
        headers=_seconds("HTTP_HEADER_SECONDS", text("HTTP_HEADER_SECONDS", str(plain.headers))),
        body=_seconds("HTTP_BODY_SECONDS", text("HTTP_BODY_SECONDS", str(plain.body))),
        streams=_whole("HTTP_STREAMS", text("HTTP_STREAMS", str(plain.streams)), 1, 64),
        rate=_whole("HTTP_RATE", text("HTTP_RATE", str(plain.rate)), 1, 100_000),
        connections=_whole("HTTP_CONNECTIONS", text("HTTP_CONNECTIONS", str(plain.connections)), 1, 65_536),
    )


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """docs/operations.md lists the variables. One that is empty is not set: Compose hands those on. Raises ValueError,
    which names the variable."""
    plain = Settings()

    def text(name: str, default: str) -> str:
        return environment.get(f"FAIRWAY_{name}", default) or default

    if text("INSECURE", ""):
        raise ValueError(f"FAIRWAY_INSECURE is gone: {NO_LONGER_INSECURE}")
    return Settings(
        nats_url=text("NATS_URL", plain.nats_url),
        redis_url=text("REDIS_URL", plain.redis_url),
        hub_kubeconfig=text("HUB_KUBECONFIG", ""),
        clusters_dir=text("CLUSTERS_DIR", ""),
        http_host=text("HTTP_HOST", plain.http_host),
        http_port=_whole("HTTP_PORT", text("HTTP_PORT", "0"), 0, 65_535),
        http_key_file=text("HTTP_KEY_FILE", ""),
        http_hosts=tuple(text("HTTP_HOSTS", "").replace(",", " ").split()),
        limits=_limits(text),
        replicas=_whole("REPLICAS", text("REPLICAS", "1"), 1, 5),
        public_url=text("PUBLIC_URL", "").rstrip("/"),
        placeholder_image=text("PLACEHOLDER_IMAGE", ""),
        allow_loopback=text("ALLOW_LOOPBACK", "") in ("1", "true", "yes"),
        service_account=text("SERVICE_ACCOUNT_DIR", plain.service_account),
        watch_silence=_seconds("WATCH_SILENCE", text("WATCH_SILENCE", str(plain.watch_silence))),
        node_grace=_seconds("NODE_GRACE", text("NODE_GRACE", str(plain.node_grace))),
        views_days=_whole("VIEWS_DAYS", text("VIEWS_DAYS", str(plain.views_days)), 1, 365),
        fleet_key_file=text("FLEET_KEY_FILE", ""),
        credentials_dir=text("CREDENTIALS_DIR", ""),
        weights=_weights("SCORE_WEIGHTS", text("SCORE_WEIGHTS", "")),
        manifests_kept=_kept("MANIFESTS_KEPT", text("MANIFESTS_KEPT", "0")),
        views_share=_whole("VIEWS_SHARE", text("VIEWS_SHARE", str(plain.views_share)), 1, 100),
        views_mib=_whole("VIEWS_MIB", text("VIEWS_MIB", str(plain.views_mib)), 0, 1 << 20),
        namespaces=_system_namespaces(text),
        http_proxies=_networks("HTTP_TRUSTED_PROXIES", text("HTTP_TRUSTED_PROXIES", "")),
        metrics_host=text("METRICS_HOST", plain.metrics_host),
        metrics_port=_whole("METRICS_PORT", text("METRICS_PORT", "0"), 0, 65_535),
    )
