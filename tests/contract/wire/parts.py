"""What the examples of several messages are made of."""

from typing import Any

from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason

AT = 1_700_000_000_000
HEAD: dict[str, Any] = {
    "job": "llm-k3v9q2",
    "tenant": "team-a",
    "attempt": 2,
    "rev": 7,
    "at": AT,
    "cause": "m6c1",
    "epoch": 40,
}
GPU = "nvidia.com/gpu"
ADA = Actor("ada", "http", "r-1", ("ml",))
WHY = Reason(Code.JOB_FAILED, "failed in north: exit code 137", "status", "give it more memory")
SLOTS = (Slot("Worker", "north-node-1", 2), Slot("Worker", "north-node-2", 1))
