"""Which API servers may be talked to: never a machine's metadata service, and this machine only when it is allowed.

A kubeconfig from elsewhere could otherwise point Fairway, with its tokens, at a cloud's metadata address or at what
listens on loopback. Names are checked when they are resolved, each time, so that a name cannot change its mind later.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Address = IPv4Address | IPv6Address

_LOCAL_NAMES = ("localhost", "ip6-localhost", "ip6-loopback")
_METADATA_NAMES = ("metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal")
# Beyond link-local: AWS over IPv6, Alibaba Cloud, Azure, Oracle Cloud.
_METADATA = frozenset(
    map(ip_address, ("fd00:ec2::254", "fd00:ec2::23", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)


class BadServer(ValueError):
    """`text` says what is wrong with the address and what to do."""


def check_server(value: Any, loopback: bool) -> str:
    """The address of an API server without a slash at its end. BadServer says why it is not taken."""
    try:
        url = urlsplit(str(value or ""))
        host = url.hostname or ""
        _ = url.port
    except ValueError as error:
        raise BadServer(f"{value!r} is no address: {error}; write https://host:port") from None
    if url.scheme != "https" and not (url.scheme == "http" and loopback and _is_local(host)):
        raise BadServer(f"{value!r} is not https; plain http is taken for 127.0.0.1 only, where that is allowed")
    if not host or url.username is not None or url.query or url.fragment:
        raise BadServer(f"{value!r} is not a plain address; write https://host:port")
    if why := against(host, loopback):
        raise BadServer(f"{host} {why}")
    return str(value).rstrip("/")


def against(host: str, loopback: bool) -> str:
    """What speaks against a host, by name or by number; empty when nothing does."""
    name = host.lower().rstrip(".")
    if name in _METADATA_NAMES:
        return "is a metadata service; give the API server's own address"
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return "" if loopback else _LOOPBACK
    try:
        found: Address = ip_address(name.partition("%")[0])
    except ValueError:
        return ""
    return _against_number(found, loopback)


_LOOPBACK = "is this machine itself; give the API server's own address, or allow loopback (--allow-loopback)"


def _against_number(found: Address, loopback: bool) -> str:
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if inner is not None:
        return _against_number(inner, loopback)
    if found in _METADATA:
        return "is a metadata service; give the API server's own address"
    if found.is_link_local:
        return "is link-local, where metadata services live; give the API server's own address"
    if found.is_multicast or (found.is_unspecified and not loopback):
        return "is no address of one server; give the API server's own address"
    if found.is_loopback and not loopback:
        return _LOOPBACK
    return ""


def _is_local(host: str) -> bool:
    return bool(against(host, loopback=False)) and not against(host, loopback=True)


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses those that stand for an address that may not be talked to."""

    def __init__(self, loopback: bool) -> None:
        self._loopback = loopback
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for one in found:
            if why := against(one["host"], self._loopback):
                raise OSError(f"{host} stands for {one['host']}, which {why}")
        return found

    async def close(self) -> None:
        await self._inner.close()
