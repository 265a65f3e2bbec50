"""What an agent is told of its cluster and of its own times."""

from msgspec import Struct

from fairway.runtime.views.members import NO_FACTS, Facts


class AgentSettings(Struct, frozen=True):
    """`facts` are what was said of the cluster; `mode` is that of a joined one (push or pull). Times in seconds;
    `stranded`: so long may pods stay on a node that is away. `most_bytes` of node rows go into one message: below the
    1 MiB that a NATS server takes by default."""

    facts: Facts = NO_FACTS
    mode: str = ""
    heartbeat: float = 5.0
    coalesce: float = 0.05
    discover: float = 2.0
    most_bytes: int = 700_000
    stranded: float = 60.0
