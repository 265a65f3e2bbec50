"""The fleet's key, with which Fairway seals what it applies: made at the first start, and kept with the credentials.

With a hub it is a Secret there, without one a file beside the members' kubeconfigs. Whoever is first makes it, and
everybody else reads that one. It goes to no member, into no message and into no log.
"""

import asyncio
import base64
import contextlib
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog

from fairway.domain.tenancy.profile import HOME
from fairway.join.secret import SECRET
from fairway.process.settings import Settings
from fairway.runtime import private_files
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable

log = structlog.get_logger()
Json = dict[str, Any]
# Who seals what it applies, or reads the seals.
SEALERS = {"propagator", "watcher"}
NAME = "fairway-fleet-key"
FILE = "fleet.key"
_KEY = "key"
# As long as the digest is that it keys (SHA-256).
_BYTES = 32
_MOST_BYTES = 64 * 1024
_AGAIN_S = 2.0
_GIVE = "set FAIRWAY_FLEET_KEY_FILE to a file that this user can read"


def key_known(names: Sequence[str], settings: Settings) -> None:
    """ValueError, before anything is started, when there is no place for the key, or what is there is none. That of the
    hub is looked at when the hub answers."""
    if not SEALERS.isdisjoint(names) and (settings.fleet_key_file or not settings.hub_kubeconfig):
        of_file(_path(settings))


async def fleet_key(settings: Settings, hub: Cluster | None) -> bytes:
    """Waits for the hub for as long as it takes. ValueError names the setting that is missing."""
    if settings.fleet_key_file or hub is None:
        return of_file(_path(settings))
    while True:
        try:
            if key := await of_hub(hub):
                return key
        except Unreachable as error:
            log.warning("waiting", service="fleet key", cause=str(error))
        except ClusterRefused as error:
            remedy = "apply deploy/hub/rights.yaml of this version to the hub"
            log.error("waiting", service="fleet key", cause=str(error), remedy=remedy)
        await asyncio.sleep(_AGAIN_S)


def _path(settings: Settings) -> Path:
    if settings.fleet_key_file:
        return Path(settings.fleet_key_file)
    if settings.clusters_dir:
        return Path(settings.clusters_dir) / FILE
    raise ValueError(
        "no place for the fleet's key, and no cluster to use it for; set FAIRWAY_CLUSTERS_DIR or "
        "FAIRWAY_HUB_KUBECONFIG, or FAIRWAY_FLEET_KEY_FILE for a key store of your own"
    )


def of_file(path: Path) -> bytes:
    """What is there, made if nothing is: whole and at once, so that nobody reads half a key. ValueError for a file that
    cannot be read, or that others can: whoever has the key can seal objects as Fairway's own."""
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    try:
        _make(path)
    except OSError as error:
        raise ValueError(
            f"the fleet's key: {path} cannot be made: {error.strerror}; {_GIVE}, or make it there"
        ) from None
    return _read(path)


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 from the beginning
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(_BYTES)))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # somebody else was faster
            os.link(name, path)
    finally:
        os.unlink(name)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            if why := private_files.against(file.fileno(), path):
                raise ValueError(f"the fleet's key: {why}")
            return _checked(file.read(_MOST_BYTES), str(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"the fleet's key: {path} cannot be read: {error.strerror}; {_GIVE}") from None


async def of_hub(hub: Cluster) -> bytes | None:
    """What is there, made if nothing is; None when somebody else made it meanwhile: it is to be read again."""
    found = await hub.get(SECRET, HOME, NAME)
    where = f"Secret {HOME}/{NAME} of the hub"
    if found is not None and _text(found):
        return _checked(base64.b64decode(_text(found)), where)
    text = base64.b64encode(base64.b64encode(secrets.token_bytes(_BYTES))).decode()
    try:
        if found is None:
            await _create(hub, {"metadata": {"name": NAME, "namespace": HOME}, "data": {_KEY: text}})
        else:  # as deploy/hub/rights.yaml makes it: empty, so that no right to make Secrets is needed
            version = {"op": "test", "path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]}
            await hub.patch(SECRET, HOME, NAME, [version, {"op": "add", "path": "/data", "value": {_KEY: text}}])
    except ClusterRefused as error:
        if error.code not in ("AlreadyExists", "Conflict", "Invalid"):
            raise
    return None


def _text(secret: Json) -> str:
    return str((secret.get("data") or {}).get(_KEY) or "")


async def _create(hub: Cluster, secret: Json) -> None:
    try:
        await hub.create(SECRET, secret)
    except ClusterRefused as error:
        if error.code != "NotFound":
            raise
        await hub.create("Namespace.v1", {"metadata": {"name": HOME}})


def _checked(text: bytes, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) < _BYTES:
        remedy = f"base64 of at least {_BYTES} bytes is wanted; remove it, and one is made"
        raise ValueError(f"{where} holds no key: {remedy}")
    return key
