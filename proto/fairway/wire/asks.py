"""Questions on core NATS, answered by whoever knows now and stored nowhere."""

from msgspec import Struct

# Answered by the queue service: `QueueAsk` in, `QueuePlace` out.
QUEUE = "fairway.ask.queue"


class QueueAsk(Struct, frozen=True):
    """Where does this job stand?"""

    job: str


class QueuePlace(Struct, frozen=True, omit_defaults=True):
    """Where a job stands in its queue. `position` counts from 1 (0: it is not waiting); `ahead` are the ids of the jobs
    right before it, five at most, in the order in which they stand; `lacks` is the reason code of what it waits for,
    `text` its sentence with numbers, and `behind` the jobs that this sentence speaks of; `running_ahead` is how many
    jobs of the queue have been let go and have not ended."""

    queue: str
    policy: str = ""
    position: int = 0
    ahead: tuple[str, ...] = ()
    lacks: str = ""
    text: str = ""
    running_ahead: int = 0
    behind: tuple[str, ...] = ()
