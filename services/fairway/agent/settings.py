"""What an agent is told of its cluster and of its own times."""

from typing import Literal

from msgspec import Struct

from fairway.wire.capacity import Taint


class AgentSettings(Struct, frozen=True):
    """`labels` and `taints` are the cluster's own; `reserve` is how room may be held there (wire.capacity.RESERVE); a
    `cordoned` one takes no new work; `mode` is that of a joined one (push or pull). Times in seconds; `stranded`: so
    long may pods stay on a node that is away. `most_bytes` of node rows go into one message: below the 1 MiB that a
    NATS server takes by default."""

    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    heartbeat: float = 5.0
    coalesce: float = 0.05
    discover: float = 2.0
    most_bytes: int = 700_000
    stranded: float = 60.0
    reserve: Literal["auto", "reservations", "placeholders", "ledger"] = "auto"
    cordoned: bool = False
    mode: str = ""
