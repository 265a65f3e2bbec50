"""What goes wrong, how often, by profile. One seeded source of chance serves a whole run, in the order of events."""

from random import Random

from msgspec import Struct

from fairway.audit.auditor import Grace


class FaultProfile(Struct, frozen=True):
    """Calls of a port: `delay_ms` is the mean time each takes; of a thousand so many are `slow` (seconds), are not done
    and fail (`refused`), are done and fail (`unanswered`), or end their process before or after they are done
    (`crash`). Of a thousand messages so many are delivered again though they were acknowledged (`again`), of a thousand
    changes that a watch tells so many come late (`stalls`). The rest are events of the fleet by the hour. `grace` is
    how late, in all this, news may be with whoever decides."""

    name: str
    delay_ms: float = 1.0
    slow: float = 0.0
    refused: float = 0.0
    unanswered: float = 0.0
    crash: float = 0.0
    again: float = 0.0
    kills: float = 0.0
    pauses: float = 0.0
    silences: float = 0.0
    wipes: float = 0.0
    failovers: float = 0.0
    outages: float = 0.0
    api_losses: float = 0.0
    stalls: float = 0.0
    node_losses: float = 0.0
    strangers: float = 0.0
    hands: float = 0.0
    trees: float = 0.0
    moves: float = 0.0
    forgers: float = 0.0
    squatters: float = 0.0
    liars: float = 0.0
    skew_ms: int = 0
    grace: Grace = Grace(reports=1_000, tree=1_000, cancel=30_000)


CALM = FaultProfile("calm", delay_ms=1.0, strangers=4, hands=1, trees=1, moves=0.5)
ROUGH = FaultProfile(
    "rough",
    delay_ms=3.0,
    slow=1.0,
    refused=1.0,
    unanswered=1.0,
    crash=0.3,
    again=10.0,
    kills=10,
    pauses=4,
    silences=1,
    wipes=6,
    failovers=4,
    outages=4,
    api_losses=6,
    stalls=6,
    node_losses=12,
    strangers=20,
    hands=10,
    trees=3,
    moves=2,
    skew_ms=500,
    grace=Grace(reports=60_000, tree=60_000, cancel=120_000),
)
HOSTILE = FaultProfile(
    "hostile",
    delay_ms=10.0,
    slow=5.0,
    refused=8.0,
    unanswered=8.0,
    crash=2.0,
    again=50.0,
    kills=60,
    pauses=30,
    silences=6,
    wipes=60,
    failovers=30,
    outages=30,
    api_losses=60,
    stalls=60,
    node_losses=60,
    strangers=60,
    hands=60,
    trees=20,
    moves=6,
    forgers=30,
    squatters=10,
    liars=20,
    skew_ms=600_000,
    grace=Grace(reports=60_000, tree=120_000, cancel=300_000),
)
PROFILES = {one.name: one for one in (CALM, ROUGH, HOSTILE)}


class FaultInjector:
    """Draws what happens to each call, of which it counts the `steps`. Once it `clears`, at `cleared_at` (ms),
    nothing goes wrong."""

    def __init__(self, profile: FaultProfile, rng: Random) -> None:
        self.profile = profile
        self.rng = rng
        self.clears = False
        self.cleared_at = 0
        self.steps = 0

    def clear(self, now: int) -> None:
        self.clears = True
        self.cleared_at = now

    def happens(self, per_thousand: float) -> bool:
        return not self.clears and per_thousand > 0 and self.rng.random() * 1000 < per_thousand

    def delays(self) -> tuple[float, float]:
        """Of one call, on the way there and on the way back (seconds). One of the two takes no time: that is half the
        work, and over many calls everything still comes between any two."""
        delay = self.delay()
        return (delay, 0.0) if self.rng.random() < 0.5 else (0.0, delay)

    def delay(self) -> float:
        """Seconds."""
        if self.happens(self.profile.slow):
            return self.rng.uniform(0.5, 8.0)
        return self.rng.expovariate(1000 / self.profile.delay_ms)
