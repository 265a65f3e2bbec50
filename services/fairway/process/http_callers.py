"""Who may come to the gateway of this process: whoever the hub knows, and whoever has a key of its own file."""

from urllib.parse import urlsplit

from fairway.gateway.callers.keys import SETTING, Keys, read_keys
from fairway.process.settings import Settings


def callers_known(settings: Settings) -> Keys:
    """The keys of the gateway's own file. ValueError when they cannot be read, or nobody would tell who comes."""
    keys = read_keys(settings.http_key_file)
    if not keys and not settings.hub_kubeconfig:
        text = "the gateway would not know who comes, with neither a hub to ask nor keys of its own"
        raise ValueError(
            f"{text}; set FAIRWAY_HUB_KUBECONFIG to a kubeconfig, or {SETTING} to a file with a key a line"
        )
    return keys


def own_hosts(of: Settings) -> tuple[str, ...]:
    """The names that the door answers to besides the loopback's: where it listens, where others reach it, and more."""
    public = urlsplit(of.public_url).hostname or ""
    return tuple(name for name in (of.http_host, public, *of.http_hosts) if name not in ("0.0.0.0", "::", ""))
