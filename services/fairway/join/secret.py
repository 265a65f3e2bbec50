"""A joined cluster as the hub keeps it: a Secret with its kubeconfig and what was said of it. Values only."""

import base64
from collections.abc import Mapping
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, parsed
from fairway.domain.tenancy.profile import HOME
from fairway.runtime.views.members import Facts

Json = dict[str, Any]

SECRET = "Secret.v1"
LABEL = "fairway.io/cluster"
UID = "fairway.io/cluster-uid"
RENEWS = "fairway.io/renews"
_KUBECONFIG = "kubeconfig"
_FACTS = "facts.json"
_encode = msgspec.json.Encoder(order="deterministic").encode


class Joined(Struct, frozen=True):
    """`kubeconfig` as it stands there, not checked; None of a cluster in pull mode, to which the hub has no way.
    `secret` and `version` are the Secret's, so that who writes it notices that another did."""

    name: str
    facts: Facts
    kubeconfig: Any = None
    secret: str = ""
    version: str = ""


def secret_name(cluster: str) -> str:
    return f"fairway-cluster-{cluster}"


def secret(joined: Joined) -> Json:
    data = {_FACTS: _text(_encode(joined.facts))}
    if joined.kubeconfig is not None:
        data[_KUBECONFIG] = kubeconfig_text(joined.kubeconfig)
    made = _manifest(secret_name(joined.name), {LABEL: joined.name}, data)
    made["metadata"]["annotations"] = {UID: joined.facts.uid}
    return made


def _manifest(name: str, labels: dict[str, str], data: dict[str, str]) -> Json:
    metadata = {"name": name, "namespace": HOME, "labels": labels}
    return {"apiVersion": "v1", "kind": "Secret", "type": "fairway.io/cluster", "metadata": metadata, "data": data}


def renewal_name(cluster: str) -> str:
    return f"fairway-renewal-{cluster}"


def renewal(cluster: str, config: Json) -> Json:
    """The Secret with which tokens of a cluster are renewed: not one of those that every process follows."""
    return _manifest(renewal_name(cluster), {RENEWS: cluster}, {_KUBECONFIG: kubeconfig_text(config)})


def read_renewal(manifest: Json) -> Any:
    """Its kubeconfig, not checked. BadKubeconfig when it has none."""
    where = f"Secret {HOME}/{(manifest.get('metadata') or {}).get('name')}"
    return parsed(_untext(where, (manifest.get("data") or {}).get(_KUBECONFIG, "")), where)


def kubeconfig_text(config: Json) -> str:
    """As it stands in the Secret's data."""
    return _text(yaml.safe_dump(config, sort_keys=False).encode())


def read_secret(manifest: Json) -> Joined:
    """BadKubeconfig when it does not say what it must."""
    metadata: Json = manifest.get("metadata") or {}
    where = f"Secret {metadata.get('namespace')}/{metadata.get('name')}"
    name = (metadata.get("labels") or {}).get(LABEL, "")
    if not name:
        raise BadKubeconfig(where, f"has no label {LABEL}; it names the cluster")
    data: Mapping[str, Any] = manifest.get("data") or {}
    try:
        facts = msgspec.json.decode(base64.b64decode(data.get(_FACTS, "") or "e30="), type=Facts)
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        raise BadKubeconfig(where, f"has {_FACTS} that cannot be read: {error}") from None
    kubeconfig = None
    if facts.mode == "push":
        if not data.get(_KUBECONFIG):
            raise BadKubeconfig(where, f"has no {_KUBECONFIG}; join the cluster again")
        kubeconfig = parsed(_untext(where, data[_KUBECONFIG]), where)
    return Joined(name, facts, kubeconfig, str(metadata["name"]), str(metadata.get("resourceVersion", "")))


def token_of(config: Any) -> str:
    """Of a checked kubeconfig."""
    return str(config["users"][0]["user"].get("token", ""))


def with_token(config: Json, token: str) -> Json:
    users = [{"name": "it", "user": {"token": token}}]
    return {**config, "users": users}


def _untext(where: str, value: Any) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (ValueError, TypeError) as error:
        raise BadKubeconfig(where, f"has data that is no base64 of a text: {error}") from None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
