"""Asks a registry of images which digest a tag has, as the OCI distribution specification says, and as anybody may.

The digest is that of the index, under which an image has one manifest for each platform. It is computed from the bytes
that came: what the registry claims besides has to agree.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from fairway.lab.supply.image_names import DOCKER, Image

# Docker's own registry is not where its name says.
ADDRESSES: Mapping[str, str] = {DOCKER: "https://registry-1.docker.io"}
PLATFORMS = ("linux/amd64", "linux/arm64")
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
# What the specification has registries take at least; an index has a few KiB.
_MOST = 4 * 1024 * 1024
_TIMEOUT_S = 30.0
_REDIRECTS = (301, 302, 303, 307, 308)


class NoDigest(Exception):
    """A registry that does not say which image a tag is; with the cause, and what to do."""


class _Stays(HTTPRedirectHandler):
    """Follows nobody: `_get` does, by rules of its own."""

    def redirect_request(self, *given: Any) -> None:
        return None


_opener = build_opener(_Stays)


def digest(image: Image, addresses: Mapping[str, str] = ADDRESSES) -> str:
    """Of the index of all platforms. Raises NoDigest."""
    address = addresses.get(image.registry, f"https://{image.registry}")
    url = f"{address}/v2/{image.repository}/manifests/{image.tag}"
    try:
        body, claimed = _index(image, url)
    except HTTPError as error:
        raise NoDigest(
            f"{image.name}: {url} answers {error.code}; is it the right name, and open to everybody?"
        ) from None
    except (URLError, OSError) as error:
        raise NoDigest(f"{image.name}: {url} is not reached: {error}; ask again where registries are") from None
    found = f"sha256:{sha256(body).hexdigest()}"
    if claimed not in ("", found):
        raise NoDigest(f"{image.name}: the registry says {claimed} of bytes that are {found}; do not use it")
    _check_platforms(image, body)
    return found


def _index(image: Image, url: str) -> tuple[bytes, str]:
    """Its bytes, and the digest that the registry claims. One that wants a token says where tokens are given away."""
    try:
        return _get(url, "")
    except HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate") or ""
        if error.code != 401 or not challenge.lower().startswith("bearer "):
            raise
    return _get(url, _token(image, challenge, urlsplit(url).scheme))


def _get(url: str, token: str) -> tuple[bytes, str]:
    """Some registries lead to a server nearby: once, by the same scheme, and without the token."""
    try:
        return _asked(url, token)
    except HTTPError as error:
        leads = urljoin(url, error.headers.get("Location") or "")
        if error.code not in _REDIRECTS or leads == url:
            raise
    if urlsplit(leads).scheme != urlsplit(url).scheme:
        raise URLError(f"it leads to {leads!r}, which is no {urlsplit(url).scheme}")
    return _asked(leads, token if urlsplit(leads).netloc == urlsplit(url).netloc else "")


def _asked(url: str, token: str) -> tuple[bytes, str]:
    headers = {"Accept": ", ".join(_INDEXES)} | ({"Authorization": f"Bearer {token}"} if token else {})
    with _opener.open(Request(url, headers=headers), timeout=_TIMEOUT_S) as answer:
        body: bytes = answer.read(_MOST + 1)
        if len(body) > _MOST:
            raise OSError(f"the answer is longer than {_MOST} bytes")
        return body, answer.headers.get("Docker-Content-Digest") or ""


def _token(image: Image, challenge: str, scheme: str) -> str:
    said = dict(_CHALLENGE.findall(challenge))
    realm = said.get("realm", "")
    if urlsplit(realm).scheme != scheme:
        raise NoDigest(f"{image.name}: tokens are said to be at {realm!r}, which is no {scheme}; do not use it")
    asked = {"service": said.get("service", ""), "scope": f"repository:{image.repository}:pull"}
    body, _ = _get(f"{realm}?{urlencode(asked)}", "")
    given = _json(image, body)
    token = given.get("token") or given.get("access_token")
    if not isinstance(token, str):
        raise NoDigest(f"{image.name}: {realm} gives no token; images that are not open to everybody are not asked for")
    return token


def _check_platforms(image: Image, body: bytes) -> None:
    index = _json(image, body)
    if index.get("mediaType", _INDEXES[0]) not in _INDEXES or not isinstance(index.get("manifests"), list):
        raise NoDigest(f"{image.name}: the tag is of one platform alone; name an image for {' and '.join(PLATFORMS)}")
    platforms = [one.get("platform") or {} for one in index["manifests"]]
    there = {f"{one.get('os')}/{one.get('architecture')}" for one in platforms}
    missing = [one for one in PLATFORMS if one not in there]
    if missing:
        raise NoDigest(f"{image.name}: there is none for {' and '.join(missing)}; name another image")


def _json(image: Image, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NoDigest(f"{image.name}: the registry answers what is no JSON object; is there a proxy in between?")
    return found
