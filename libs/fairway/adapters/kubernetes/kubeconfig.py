"""Which kubeconfigs are taken, and the connection that is made from one.

A kubeconfig can name a program to run, a file to read or a proxy to send tokens through (CVE-2022-24817 in Flux).
Fairway takes a server, its CA, and a token or a client certificate; everything else that would matter is refused.
"""

from __future__ import annotations

import base64
import ssl
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import yaml

from fairway.adapters.kubernetes.server_address import BadServer, GuardedResolver, check_server

if TYPE_CHECKING:
    from kubernetes_asyncio.client import ApiClient, Configuration

Json = dict[str, Any]

# Where a kubelet puts the token and the CA of a pod's service account.
POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_MOST_BYTES = 1024 * 1024
_REFUSED_OF_CLUSTER = {
    "insecure-skip-tls-verify": "put the server's CA into certificate-authority-data",
    "proxy-url": "give the server's own address",
}
_REFUSED_OF_USER = {
    **dict.fromkeys(("exec", "auth-provider", "username", "password"), "use a token or client-certificate-data"),
    "tokenFile": "put the token itself into token",
    **dict.fromkeys(("as", "as-uid", "as-groups", "as-user-extra"), "use credentials of the account itself"),
}
# Watches hold a connection each; what is left serves calls.
_CONNECTIONS = 100
# Half of the longest line that aiohttp hands over; objects of a real API server are below 2 MiB.
_BUFFER = 2**21


class BadKubeconfig(ValueError):
    """Not taken; `field` is what stands in the way."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"kubeconfig: {field} {text}")
        self.field = field


def read(source: str | Path | Json, context: str = "", loopback: bool = True) -> Json:
    """The checked kubeconfig of a file or of its content: one cluster, one user, no file named any more. `context`
    names another than the current one; without `loopback` servers on this machine itself are refused."""
    if isinstance(source, dict):
        return checked(source, None, context, loopback)
    path = Path(source)
    text = path.read_text()
    return checked(parsed(text, str(path)), path.parent, context, loopback)


def parsed(text: str, where: str) -> Any:
    """The content of a kubeconfig as YAML. BadKubeconfig names `where` it came from."""
    if len(text) > _MOST_BYTES:
        raise BadKubeconfig(where, f"is larger than {_MOST_BYTES} bytes; keep only the one context")
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise BadKubeconfig(where, f"is not YAML: {error}") from None


def checked(config: Any, folder: Path | None = None, wanted: str = "", loopback: bool = True) -> Json:
    """Only what the context uses. Files named in it must lie in `folder`; their content replaces them."""
    if not isinstance(config, dict):
        raise BadKubeconfig("content", "is not a mapping; give a kubeconfig with clusters, users and contexts")
    context = _named(config, "contexts", "context", wanted or config.get("current-context"))
    cluster = _named(config, "clusters", "cluster", context.get("cluster"))
    user = _named(config, "users", "user", context["user"]) if context.get("user") else {}
    _refuse(cluster, "cluster", _REFUSED_OF_CLUSTER)
    _refuse(user, "user", _REFUSED_OF_USER)
    taken: Json = {"server": _server(cluster.get("server"), loopback)}
    if cluster.get("tls-server-name"):
        taken["tls-server-name"] = str(cluster["tls-server-name"])
    taken |= _inlined(cluster, ("certificate-authority",), folder)
    keys = {"token": str(user["token"])} if user.get("token") else {}
    keys |= _inlined(user, ("client-certificate", "client-key"), folder)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": taken}],
        "users": [{"name": "it", "user": keys}],
    }


def load() -> Any:
    """kubernetes_asyncio, whose models take a second. A process that speaks with no cluster does without; one that may
    loads it before it works, so that its first cluster does not hold it up."""
    import_module("kubernetes_asyncio.config.incluster_config")
    return import_module("kubernetes_asyncio")


async def connect(config: Json, loopback: bool = True) -> ApiClient:
    """A client of its own connection pool for a checked kubeconfig. What the server's name stands for is checked
    whenever it is resolved."""
    library = load()
    configuration = library.client.Configuration()
    await library.config.load_kube_config_from_dict(config, client_configuration=configuration)
    return _client(configuration, loopback)


def connect_in_cluster(folder: Path = POD) -> ApiClient:
    """For a pod: the service account that lies in `folder`, whose token is read again every minute."""
    library = load()
    configuration = library.client.Configuration()
    loader = library.config.incluster_config.InClusterConfigLoader(str(folder / "token"), str(folder / "ca.crt"))
    loader.load_and_set(configuration)
    return _client(configuration)


def _client(configuration: Configuration, loopback: bool = True) -> ApiClient:
    configuration.connection_pool_maxsize = _CONNECTIONS
    client: ApiClient = load().client.ApiClient(configuration)
    # The session that the library makes sends tokens through whatever proxy the environment names, and resolves a
    # name to whatever address it stands for.
    client.rest_client.pool_manager.detach()
    connector = aiohttp.TCPConnector(limit=_CONNECTIONS, ssl=_trust(configuration), resolver=GuardedResolver(loopback))
    client.rest_client.pool_manager = aiohttp.ClientSession(connector=connector, trust_env=False, read_bufsize=_BUFFER)
    return client


def _trust(configuration: Configuration) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
    return context


def _named(config: Json, table: str, part: str, name: Any) -> Json:
    for entry in config.get(table) or ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(part), dict):
            found: Json = entry[part]
            return found
    raise BadKubeconfig(table, f"has no entry named {name!r}; add it or correct current-context")


def _refuse(given: Json, part: str, refused: dict[str, str]) -> None:
    for field, remedy in refused.items():
        if given.get(field):
            raise BadKubeconfig(f"{part}.{field}", f"is not accepted; {remedy}")


def _server(value: Any, loopback: bool) -> str:
    try:
        return check_server(value, loopback)
    except BadServer as error:
        raise BadKubeconfig("cluster.server", str(error)) from None


def _inlined(given: Json, fields: tuple[str, ...], folder: Path | None) -> Json:
    found: Json = {}
    for field in fields:
        if given.get(f"{field}-data"):
            found[f"{field}-data"] = str(given[f"{field}-data"])
        elif given.get(field):
            found[f"{field}-data"] = base64.b64encode(_within(field, str(given[field]), folder)).decode()
    return found


def _within(field: str, name: str, folder: Path | None) -> bytes:
    if folder is None:
        raise BadKubeconfig(field, f"names a file, {name!r}; use {field}-data")
    home = folder.resolve()
    path = (folder / name).resolve()
    if not path.is_relative_to(home):
        raise BadKubeconfig(field, f"{name!r} lies outside the kubeconfig's own folder; use {field}-data")
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise BadKubeconfig(field, f"{name!r} is no readable certificate file; use {field}-data")
    return path.read_bytes()
