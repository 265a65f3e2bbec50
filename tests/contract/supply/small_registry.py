"""A registry of images on 127.0.0.1 that answers as the OCI distribution specification says: manifests by tag, a token
for whoever asks, and nothing without one."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

OCI = "application/vnd.oci.image.index.v1+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
SINGLE = "application/vnd.oci.image.manifest.v1+json"


class Registry(Struct):
    """`tags`: REPOSITORY:TAG → bytes. Its address is known once it listens."""

    tags: dict[str, bytes]
    # Whether it wants a token, and where it says that tokens are; without, its own.
    closed: bool = True
    realm: str = ""
    # In place of the digest that it would claim.
    claims: str = ""
    # Where it sends everybody who asks for a manifest.
    leads: str = ""
    address: str = ""
    asked: list[str] = []
    tokens: list[str] = []


def index(*platforms: str, kind: str = OCI) -> bytes:
    """With a manifest for each platform (`linux/amd64`)."""
    manifests = [
        {
            "mediaType": SINGLE,
            "digest": f"sha256:{sha256(one.encode()).hexdigest()}",
            "size": 7,
            "platform": dict(zip(("os", "architecture"), one.split("/"), strict=True)),
        }
        for one in platforms
    ]
    return json.dumps({"schemaVersion": 2, "mediaType": kind, "manifests": manifests}).encode()


@contextmanager
def listening(registry: Registry) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            registry.tokens.append(self.headers.get("Authorization") or "")
            status, headers, body = _answer(registry, self.path, self.headers)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """What it was asked is noted above."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


def _answer(registry: Registry, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
    url = urlsplit(path)
    if url.path == "/token":
        asked = parse_qs(url.query)
        return 200, {}, json.dumps({"token": f"for {asked['scope'][0]} at {asked['service'][0]}"}).encode()
    repository, _, tag = url.path.removeprefix("/v2/").partition("/manifests/")
    if registry.closed and headers.get("Authorization") != f"Bearer for repository:{repository}:pull at small":
        realm = registry.realm or f"{registry.address}/token"
        # The scope here is one that a client should not take over: it asks for what it wants.
        return 401, {"WWW-Authenticate": f'Bearer realm="{realm}",service="small",scope="repository:x:push"'}, b"{}"
    if registry.leads:
        return 307, {"Location": f"{registry.leads}{url.path}"}, b""
    body = registry.tags.get(f"{repository}:{tag}")
    if body is None:
        return 404, {}, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}'
    kinds = headers.get("Accept") or ""
    if OCI not in kinds or LIST not in kinds:
        return 200, {"Content-Type": SINGLE}, b"{}"
    return 200, {"Docker-Content-Digest": registry.claims or f"sha256:{sha256(body).hexdigest()}"}, body
