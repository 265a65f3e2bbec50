"""What the gateway says for what it is asked: by the rules of every door (domain.submission). Pure."""

from fairway.domain.decision import Say
from fairway.domain.submission import (
    HUB_CLIENT,
    Asked,
    Submission,
    cancellation,
    client_problem,
    names_of,
    submission,
)
from fairway.wire.envelope import Actor

__all__ = [
    "HUB_CLIENT",
    "Asked",
    "Submission",
    "cancellation",
    "client_problem",
    "deletion",
    "names_of",
    "of_hub",
    "outgoing_kind",
    "submission",
]


def of_hub(namespace: str, uid: str = "") -> Actor:
    """Who wrote an object of the hub: somebody who may in its namespace. The watch does not tell the user."""
    return Actor(f"hub:{namespace}" if namespace else "hub", "hub", uid)


def deletion(job: str, namespace: str, uid: str, now: int) -> Say:
    """The object that the job stands for is gone from the hub."""
    return cancellation(job, namespace, of_hub(namespace, uid), now)


def outgoing_kind(say: Say) -> str:
    """The CloudEvents type of a message."""
    return ".".join(say.subject.split(".")[:3])
