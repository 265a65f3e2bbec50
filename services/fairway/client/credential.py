"""Which bearer token a command sends, and to which address alone.

A token goes only where it belongs: the key of a fleet's folder to that fleet's own address, a token file where the user
said the gateway is or to the gateway of the hub that was named, a kubeconfig's token to that hub's gateway, or to the
address that was named together with it (`--url` with `--kubeconfig` or `--context`, as kubectl's `--server`: not with
what the environment says). Never over plain HTTP beyond this machine unless the user says so, and never to a place that
only a redirect names.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from fairway.client import kubectl_credential
from fairway.client.failure import DENIED, ERROR, USAGE, Failure
from fairway.client.hub_address import asked
from fairway.domain.text.bearer_token import is_token
from fairway.domain.text.host_names import is_loopback

FLEET_FILE = Path(".fairway/fleet.json")
FILE = "FAIRWAY_TOKEN_FILE"
PLAIN = "FAIRWAY_PLAIN_HTTP"
# How the address came to be known: the user said it, the file of this folder's fleet did, or the hub's ConfigMap.
SAID = "said"
FOLDER = "folder"
HUB = "hub"
_WRITABLE_BY_OTHERS = 0o022


class GatewayPlace(Struct, frozen=True):
    """Where a gateway is, and how that came to be known."""

    url: str
    by: str


class Credential(Struct, frozen=True):
    """`source` names it in sentences; the token itself is in none, and not in what a debugger or a log shows."""

    token: str = ""
    source: str = ""

    def __repr__(self) -> str:
        return f"Credential({self.source!r})"


def facts_of_folder() -> dict[str, Any]:
    """What `fairway up` wrote of the fleet of this folder; empty where there is none. Raises Failure for a file that
    is none of the user's own: it would have commands go wherever somebody else likes."""
    try:
        about = FLEET_FILE.stat()
    except OSError:
        return {}
    if about.st_uid != os.geteuid() or about.st_mode & _WRITABLE_BY_OTHERS:
        remedy = "leave that folder, or name the fleet with --url"
        raise Failure(DENIED, f"{FLEET_FILE} belongs to another user, or can be written by others", remedy)
    try:
        facts = json.loads(FLEET_FILE.read_bytes())
        if not isinstance(facts, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError) as error:
        text = f"{FLEET_FILE} is not what `fairway up` writes: {error}"
        raise Failure(ERROR, text, "start a fleet with `fairway up`, or name one with --url or FAIRWAY_URL") from None
    return facts


def choose(place: GatewayPlace, token_file: str, environment: Mapping[str, str]) -> Credential:
    """What to send there; an empty one where nobody gave any. Raises Failure when one was given that may not go there,
    or that is none."""
    found = _chosen(place, token_file, environment)
    if found.token:
        check_way(place, environment.get(PLAIN, "") in ("1", "true", "yes"))
    return found


def _chosen(place: GatewayPlace, token_file: str, environment: Mapping[str, str]) -> Credential:
    if token_file:
        return from_file(token_file, "--token-file")
    if place.by != FOLDER and environment.get(FILE):
        return from_file(environment[FILE], FILE)
    if place.by == HUB or asked.named:
        token = kubectl_credential.token()
        return Credential(token, "the kubeconfig's credential") if token else Credential()
    return _of_folder(place)


def _of_folder(place: GatewayPlace) -> Credential:
    """The fleet's own key, if this is its address."""
    facts = facts_of_folder()
    own = facts.get("token") and origin(str(facts.get("http") or "")) == origin(place.url)
    return Credential(str(facts["token"]), f"the key in {FLEET_FILE}") if own else Credential()


def from_file(name: str, source: str) -> Credential:
    """Raises Failure."""
    try:
        text = Path(name).read_text("ascii").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Failure(USAGE, f"{source}: {name} cannot be read: {why}", _MAKE) from None
    if not is_token(text):
        raise Failure(USAGE, f"{source}: {name} does not hold one bearer token and nothing else", _MAKE)
    return Credential(text, f"the token in {name}")


_MAKE = f"make one with {kubectl_credential.MAKE}"


def check_way(place: GatewayPlace, plain: bool, hub: Callable[[], str] = kubectl_credential.server) -> None:
    """Raises Failure when a token may not go to this place. `hub` tells the address of the hub that named it."""
    url = urlsplit(place.url)
    if url.scheme == "https":
        return
    if not is_loopback(url.hostname or ""):
        if plain:
            return
        text = f"{origin(place.url)} is plain HTTP, where everybody on the way could read the credential"
        raise Failure(DENIED, text, f"use https, or say {PLAIN}=1 if the way is safe by other means")
    if place.by == HUB and not is_loopback(urlsplit(hub()).hostname or ""):
        # Who listens on this machine is anybody here, and not whom a hub elsewhere knows.
        text = f"the hub is elsewhere and says that its gateway is on this machine ({origin(place.url)})"
        raise Failure(DENIED, text, "name it yourself with --url and --token-file if that is so")


def origin(url: str) -> str:
    """Scheme, host and port: two addresses with the same are one place."""
    try:
        found = urlsplit(url)
        port = found.port or {"http": 80, "https": 443}.get(found.scheme, 0)
    except ValueError:
        return ""
    return f"{found.scheme}://{found.hostname}:{port}" if found.hostname else ""
