"""As a kubectl plugin: the hub that kubectl means, and what stands on it about the fleet.

kubectl itself is asked, so that every way of its to log in works.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct

from fairway.client.failure import UNREACHABLE, USAGE, Failure
from fairway.domain.tenancy.profile import HOME

# Commands that ask a fleet; others have a --kubeconfig of their own that means something else.
_QUESTIONS = frozenset({"get", "why", "story", "cancel", "queue", "clusters"})
_WHERE = f"-n={HOME} get configmap fairway --ignore-not-found -o=jsonpath={{.data.url}}"
_SECONDS = 20


class KubectlOptions(Struct):
    """What was said of the hub, as kubectl's own flags say it. `plugin`: kubectl runs this program; `everywhere`:
    all namespaces are meant, not that of kubectl's context."""

    kubeconfig: str = ""
    context: str = ""
    plugin: bool = False
    everywhere: bool = False

    @property
    def named(self) -> bool:
        """Whether this command line itself says which kubeconfig, or which part of one."""
        return bool(self.kubeconfig or self.context)

    def first(self, environment: Mapping[str, str]) -> bool:
        """Whether the hub is to be asked before the fleet of this folder."""
        return bool(self.named or (self.plugin and environment.get("KUBECONFIG")))


# Of this process: there is one command line.
asked = KubectlOptions()


def arguments(program: str, given: Sequence[str]) -> list[str]:
    """The arguments without kubectl's own flags, which are remembered. Raises Failure."""
    asked.plugin = PurePath(program).name.startswith("kubectl-fairway")
    if not given or given[0] not in _QUESTIONS:
        return list(given)
    left: list[str] = []
    words = iter(given)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in ("--kubeconfig", "--context"):
            value = value if equals else next(words, "")
            if not value:
                raise Failure(USAGE, f"{flag} has no value", f"write {flag}=VALUE")
            setattr(asked, flag.removeprefix("--"), value)
        elif word in ("-A", "--all-namespaces"):
            asked.everywhere = True
        else:
            left.append(word)
    return left


def namespace_of() -> str:
    """The namespace that kubectl would use, for a plugin that was not given one; else none."""
    if not asked.plugin or asked.everywhere:
        return ""
    return kubectl("config view --minify -o=jsonpath={..namespace}") or "default"


def of_hub() -> str:
    """The gateway's address as it stands on the hub. Raises Failure."""
    if url := kubectl(_WHERE):
        return url
    text = f"the hub has no ConfigMap fairway in {HOME}"
    raise Failure(UNREACHABLE, text, "is Fairway's gateway connected to it? Name it with --url")


def kubectl(question: str) -> str:
    """What kubectl prints, with the flags that were given. Raises Failure."""
    flags = (f"--kubeconfig={asked.kubeconfig}", f"--context={asked.context}")
    command = ["kubectl", *(flag for flag in flags if not flag.endswith("=")), *question.split()]
    try:
        done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except FileNotFoundError:
        raise Failure(UNREACHABLE, "there is no kubectl on the PATH to find the hub with", "use --url") from None
    except subprocess.TimeoutExpired:
        raise Failure(UNREACHABLE, f"the hub did not answer kubectl in {_SECONDS} s", "use --url") from None
    if done.returncode:
        raise Failure(UNREACHABLE, f"the hub cannot be asked: {done.stderr.strip()[:500]}", "check the kubeconfig")
    return done.stdout.strip()
