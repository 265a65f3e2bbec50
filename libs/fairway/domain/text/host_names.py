"""Names of hosts, as addresses and Host headers have them."""

from ipaddress import ip_address

LOCAL = "localhost"


def is_loopback(name: str) -> bool:
    """Whether it names this machine itself, whatever names are resolved to."""
    if name.lower() == LOCAL:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def without_port(host: str) -> str:
    """Of a Host header, or of an address as proxies write it: the name in small letters, IPv6 without its brackets."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower()
