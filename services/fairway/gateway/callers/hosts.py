"""Which names this door answers to: a page of another site that points its own name at this machine still sends that
name, and a page that sends a request here says from where (Origin). And from which address a request comes."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address
from urllib.parse import urlsplit

from starlette.requests import Request

from fairway.domain.text.host_names import is_loopback, without_port
from fairway.gateway.http.problem import Problem

Networks = tuple[IPv4Network | IPv6Network, ...]


class Hosts:
    """`names` besides those of the loopback, without ports; `proxies` are believed about where a request comes from."""

    def __init__(self, names: Iterable[str] = (), proxies: Networks = ()) -> None:
        self._names = frozenset(name.lower().strip("[]") for name in names if name)
        self._proxies = proxies

    def address(self, request: Request) -> str:
        """Where the request comes from: of a trusted proxy's, the last hop of X-Forwarded-For, which is the one that it
        wrote itself. What stands before it is the client's own word."""
        peer = request.client.host if request.client else ""
        if not self._trusted(peer):
            return peer
        hop = ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        for one in (hop, without_port(hop)):
            try:
                return str(ip_address(one))
            except ValueError:
                continue
        return peer

    def _trusted(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)

    def check(self, request: Request) -> None:
        """Raises a Problem: 421 for a foreign host, 403 for a foreign origin."""
        given = request.headers.getlist("host")
        if len(given) != 1 or not self._own(without_port(given[0])):
            detail = "use http://127.0.0.1, the host of FAIRWAY_PUBLIC_URL, or a name of FAIRWAY_HTTP_HOSTS"
            raise Problem(421, "this door does not answer to that host name", detail)
        for origin in request.headers.getlist("origin"):
            if not self._own(_of_origin(origin)):
                raise Problem(
                    403, "pages of other sites may not ask here", "ask from a program, or from a page of here"
                )

    def _own(self, name: str) -> bool:
        return name in self._names or is_loopback(name)


def _of_origin(origin: str) -> str:
    try:
        return (urlsplit(origin).hostname or "").lower()
    except ValueError:
        return ""
