"""The bearer token that kubectl would send to its hub: from the kubeconfig itself, a file that it names, or the program
that it names (client-go's exec plugins).

It is the user's own kubeconfig, whose program kubectl runs at every command and has just run to find the gateway; so it
is run here too. In kubeconfigs that are handed to Fairway for a member no program is ever run (kubeconfig.py).
"""

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairway.client.failure import DENIED, ERROR, Failure
from fairway.client.hub_address import asked, kubectl
from fairway.domain.text.bearer_token import is_token

Json = dict[str, Any]
MAKE = "`kubectl create token NAME -n NAMESPACE --audience fairway > FILE`"
_GIVE = f"make a token with {MAKE} (after `umask 077`), and give it with --token-file FILE or FAIRWAY_TOKEN_FILE"
_IMPERSONATES = ("as", "as-uid", "as-groups", "as-user-extra")
_CERTIFICATE = ("client-certificate", "client-certificate-data")
# A person may have to type or click something to log in.
_SECONDS = 180


def token() -> str:
    """Empty when the kubeconfig has no credential at all. Raises Failure for one that is no bearer token."""
    found = _found()
    if found and not is_token(found):
        raise Failure(DENIED, "kubectl's credential for this hub is no bearer token: no header can carry it", _GIVE)
    return found


def _found() -> str:
    user = _part("users", "user")
    if any(user.get(field) for field in _IMPERSONATES):
        text = "this kubeconfig acts as somebody else (`as`), which a bearer token does not carry to the gateway"
        raise Failure(DENIED, text, _GIVE)
    if user.get("tokenFile"):
        return _read(_beside(str(user["tokenFile"])))
    if user.get("token"):
        return str(user["token"])
    if user.get("exec"):
        return _run(user["exec"])
    if any(user.get(field) for field in _CERTIFICATE):
        raise _certificate()
    if user.get("username") or user.get("auth-provider"):
        raise Failure(DENIED, "kubectl's credential for this hub is no bearer token", _GIVE)
    return ""


def server() -> str:
    """The address of the hub's API server."""
    return str(_part("clusters", "cluster").get("server") or "")


def _certificate() -> Failure:
    text = "kubectl's credential for this hub is a client certificate, and the gateway takes bearer tokens"
    return Failure(DENIED, text, _GIVE)


def _part(table: str, part: str) -> Json:
    """Of the one context that is meant."""
    found = _config().get(table) or [{}]
    value = found[0].get(part) if isinstance(found[0], dict) else None
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=1)
def _config() -> Json:
    try:
        found = json.loads(kubectl("config view --minify --raw -o=json"))
    except ValueError:
        raise Failure(ERROR, "kubectl does not print its configuration as JSON", "check the kubeconfig") from None
    return found if isinstance(found, dict) else {}


def _beside(name: str) -> Path:
    """Names in a kubeconfig are beside it; of several that are merged kubectl does not say which one it was."""
    given = asked.kubeconfig or os.environ.get("KUBECONFIG", "") or str(Path.home() / ".kube" / "config")
    files = [one for one in given.split(os.pathsep) if one]
    path = Path(name)
    if not path.is_absolute() and len(files) > 1:
        raise Failure(DENIED, f"{name} stands in one of several kubeconfigs", "name the one with --kubeconfig")
    return Path(files[0]).parent / path


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        raise Failure(DENIED, f"the kubeconfig's token file {path} cannot be read", _GIVE) from None


def _run(given: Json) -> str:
    """What the program of an exec plugin says, as client-go runs it."""
    name = str(given.get("command") or "")
    program = str(_beside(name)) if os.sep in name else name
    extra = {str(one["name"]): str(one["value"]) for one in given.get("env") or ()}
    interactive = given.get("interactiveMode") != "Never" and sys.stdin.isatty()
    spec: Json = {"interactive": interactive}
    if given.get("provideClusterInfo"):
        cluster = _part("clusters", "cluster")
        spec["cluster"] = {key: cluster[key] for key in ("server", "certificate-authority-data") if key in cluster}
    about = {"apiVersion": given.get("apiVersion"), "kind": "ExecCredential", "spec": spec}
    try:
        done = subprocess.run(
            [program, *map(str, given.get("args") or ())],
            check=True,
            timeout=_SECONDS,
            stdout=subprocess.PIPE,
            stdin=None if interactive else subprocess.DEVNULL,
            env={**os.environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(about)},
        )
        status = json.loads(done.stdout).get("status") or {}
    except (OSError, subprocess.SubprocessError, ValueError, AttributeError) as error:
        cause = getattr(error, "strerror", None) or type(error).__name__  # what it printed may hold a token
        remedy = f"run kubectl to see whether it works there; {given.get('installHint') or 'else ' + _GIVE}"
        raise Failure(DENIED, f"the kubeconfig's program {name} gave no credential ({cause})", remedy) from None
    if status.get("token"):
        return str(status["token"])
    raise _certificate()
