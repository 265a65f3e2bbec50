"""As a kubectl plugin: the hub that kubectl means, and what stands on it about the fleet.

kubectl itself is asked, so that every way of its to log in works.
"""

import os
import subprocess
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import PurePath

from fairway.app.failure import UNREACHABLE, USAGE, Failure

# Commands that ask a fleet; others have a --kubeconfig of their own that means something else.
_QUESTIONS = frozenset({"get", "why", "story", "cancel", "queue", "clusters"})
_FLAGS = {"--kubeconfig": "KUBECONFIG", "--context": "FAIRWAY_CONTEXT"}
_WHERE = "-n=fairway-system get configmap fairway --ignore-not-found -o=jsonpath={.data.url}"
_SECONDS = 20


def is_plugin(program: str) -> bool:
    """kubectl runs `kubectl-fairway` for `kubectl fairway`."""
    return PurePath(program).name.startswith("kubectl-fairway")


def arguments(given: Sequence[str], plugin: bool, environment: MutableMapping[str, str]) -> list[str]:
    """The arguments without kubectl's own flags, which go into the environment. Raises Failure."""
    if not given or given[0] not in _QUESTIONS:
        return list(given)
    left: list[str] = []
    words = iter(given)
    everywhere = False
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in _FLAGS:
            value = value if equals else next(words, "")
            if not value:
                raise Failure(USAGE, f"{flag} has no value", f"write {flag}=VALUE")
            environment.update({_FLAGS[flag]: value, "FAIRWAY_ASK_HUB": "1"})
        elif word in ("-A", "--all-namespaces"):
            everywhere = True
        else:
            left.append(word)
    if plugin:
        if environment.get("KUBECONFIG"):
            environment["FAIRWAY_ASK_HUB"] = "1"
        environment["FAIRWAY_PLUGIN"] = "" if everywhere else "1"
    return left


def namespace_of(environment: Mapping[str, str] = os.environ) -> str:
    """The namespace that kubectl would use, for a plugin that was not given one; else none."""
    if not environment.get("FAIRWAY_PLUGIN"):
        return ""
    return _kubectl("config view --minify -o=jsonpath={..namespace}", environment) or "default"


def of_hub(environment: Mapping[str, str]) -> str:
    """The gateway's address as it stands on the hub; empty when it does not stand there. Raises Failure."""
    return _kubectl(_WHERE, environment)


def _kubectl(question: str, environment: Mapping[str, str]) -> str:
    context = environment.get("FAIRWAY_CONTEXT", "")
    command = ["kubectl", *([f"--context={context}"] if context else []), *question.split()]
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except FileNotFoundError:
        raise Failure(UNREACHABLE, "there is no kubectl on the PATH to find the hub with", "use --url") from None
    except subprocess.TimeoutExpired:
        raise Failure(UNREACHABLE, f"the hub did not answer kubectl in {_SECONDS} s", "use --url") from None
    if done.returncode:
        raise Failure(UNREACHABLE, f"the hub cannot be asked: {done.stderr.strip()[:500]}", "check the kubeconfig")
    return done.stdout.strip()
