"""Questions on core NATS, answered by whoever knows now and stored nowhere."""

from msgspec import Struct

from fairway.wire.reasons import Reason

# Answered by the queue service: `QueueAsk` in, `QueueAnswer` out.
QUEUE = "fairway.ask.queue"


# So many jobs may be asked about beside one: as many as a page of a list has.
MOST_ALSO = 500


class QueueAsk(Struct, frozen=True, omit_defaults=True):
    """Where does this job stand (none, if it is empty)? And for what do those of `also` wait?"""

    job: str
    also: tuple[str, ...] = ()


# So many of those ahead of a job are named.
MOST_AHEAD = 5


class QueuePlace(Struct, frozen=True, omit_defaults=True):
    """Where a job stands in its queue. `position` counts from 1 (0: it is not waiting); `ahead` are the ids of the jobs
    right before it, five at most, in the order in which they stand; `running_ahead` is how many jobs of the queue have
    been let go and have not ended.

    `gates` are the reasons for which it waits now, the first one's code in `lacks`, all their sentences in `text`; none
    of them names another job. `behind` are those whose turn is first, and `head` is what the first of them waits
    for."""

    queue: str
    policy: str = ""
    position: int = 0
    ahead: tuple[str, ...] = ()
    lacks: str = ""
    text: str = ""
    running_ahead: int = 0
    behind: tuple[str, ...] = ()
    gates: tuple[Reason, ...] = ()
    head: str = ""


class QueueAnswer(QueuePlace, frozen=True, omit_defaults=True):
    """Where the job stands; and for what the others wait, in the order in which they were asked about. Who is ahead of
    those is not said."""

    also: tuple[QueuePlace, ...] = ()
