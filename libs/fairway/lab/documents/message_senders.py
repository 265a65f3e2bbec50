"""Which file says a message: read from the code, without running it."""

import ast
from collections.abc import Mapping
from pathlib import Path

from fairway.wire import flow

# What these say on behalf of the service that calls them (domain/attempts/retry.py, domain/preemption/open_claim.py,
# domain/submission.py, workloads/hub/objects.py).
HELPERS = {
    "attempt_over": {"Recall", "Queue"},
    "next_attempt": {"Recall", "Queue"},
    "go_back": {"Queue"},
    "withdraw": {"Unclaimed"},
    "came_to_nothing": {"Unclaimed"},
    "submission": {"Submitted"},
    "revision": {"Revise"},
    "holding": {"HoldJob"},
    "cancellation": {"Cancel"},
    "configured": {"Configured"},
    "withdrawn": {"Configured"},
    "not_taken": {"ConfigRefused"},
}
_NAMES = {row.message.__name__: row.name for row in flow.FLOW if row.message is not None}


def messages_made(source: str) -> set[str]:
    """Messages that this code makes: constructed, or given to `say` or to a helper that says them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).startswith("asyncio."):
            continue  # `asyncio.Queue` is no message
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [name]
        if name == "say" or name in HELPERS:
            words += [arg.attr for arg in node.args if isinstance(arg, ast.Attribute)]
        found |= {*words, *HELPERS.get(name, ())}
    return {_NAMES[word] for word in found if word in _NAMES}


def made_by(root: Path, service: str) -> Mapping[str, set[str]]:
    """The messages that each file of a service makes, by the file's path in the checkout."""
    folder = root / "services/fairway" / service.replace("-", "_")
    files = sorted(folder.rglob("*.py"))
    return {file.relative_to(root).as_posix(): messages_made(file.read_text("utf-8")) for file in files}
