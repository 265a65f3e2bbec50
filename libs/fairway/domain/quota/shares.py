"""Shares of quota: what a job that has its turn is charged at every node of its path.

A share is owed from the commit that ends its charge until the queue has heard of it, and is charged as long. The queue
hears what is in the record, so that whoever takes a share that was given back stands behind that in the record: read to
any place, it charges no node more than its max, and a store that is lost is made anew from it.
"""

from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Put, Write
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire


class Share(Struct, frozen=True):
    """`charge` at every node of `path`, root first."""

    path: tuple[str, ...]
    charge: Resources

    def adds(self, sign: int = 1) -> list[Add]:
        """What charges it, whatever the max; with -1, what gives it back."""
        return [
            Add(decision.QUOTA, quota_key(node, name), sign * amount)
            for node in self.path
            for name, amount in sorted(self.charge.items())
            if amount
        ]


def quota_key(node: str, resource: str) -> str:
    return f"{node}|{resource}"


def owed_key(job: str, rev: int) -> str:
    """Where a share is owed: by the job, and the event with which its charge has ended."""
    return f"{job}/{rev}"


_GIVE_BACK = (wire.Queue, wire.Succeeded, wire.Failed, wire.Lost, wire.Cancelled)


def given_back_by(heard: Heard[object]) -> str:
    """The key of what is owed until this message is heard; empty when it gives nothing back."""
    message = heard.message
    if isinstance(message, wire.Queue) and message.why is None:
        return ""  # it comes for the first time
    return owed_key(message.job, message.rev) if isinstance(message, _GIVE_BACK) else ""


def settled(key: str, share: Share) -> tuple[Write, ...]:
    """It is owed no more: once, whoever says so how often."""
    return (Put(decision.OWED, key, None, expect=1), *share.adds(-1))
