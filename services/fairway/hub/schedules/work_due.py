"""What is to be done for a schedule now: which run is to be made, which runs go, and when to look again. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from fairway.workloads.schedules.schedule import FORBID, REPLACE, Json, Run, Schedule

# So long a controller of the hub may take to make a run; then there is none (ms). Most give a run the name that Fairway
# gives it, so that no run is made twice; one that does not is waited for at every run.
PATIENCE_MS = 10_000
# Of a schedule that does not catch up, a run that is later than this was missed (ms).
_MISSED_MS = 60_000
# Nobody waits longer for a look at the clock (ms).
_LOOK_MS = 3_600_000


class Wait(Struct, frozen=True):
    """For a controller of the hub, `since` it was seen that a run was due `behind` that time (ms)."""

    behind: int = -1
    since: int = 0


class Before(Struct, frozen=True):
    """What came of the looks before: what was meant until `passed` (ms) was made or left out, the last run was made by
    Fairway (`ours`), a controller is waited for. Its status was last written to say `wrote` of its runs, and says
    something else since `unlike` (ms; 0: it does not)."""

    passed: int = 0
    ours: bool = False
    wait: Wait = Wait()
    wrote: Json = {}
    unlike: int = 0


NOTHING = Before()


class WorkDue(Struct, frozen=True):
    """Makes the run that was meant for `make` (ms); the run of `passed` is left out for good. `drop` are runs that give
    way to it, or that nobody keeps. `next` is when to look again. `waits`: a controller of the hub is waited for."""

    make: int | None = None
    passed: int | None = None
    drop: tuple[Run, ...] = ()
    next: int | None = None
    waits: Wait | None = None


def work_due(known: Schedule, runs: Sequence[Run], now: int, before: Before = NOTHING) -> WorkDue:
    old = _old(known, runs)
    look = min(known.next(now) or now + _LOOK_MS, now + _LOOK_MS)
    behind = max(known.since, before.passed)
    at = None if known.suspended else known.newest(behind, now)
    if at is None:
        return WorkDue(drop=old, next=look)
    wait = before.wait if before.wait.behind == behind else Wait(behind, now)
    patience = 0 if last_is_ours(known, before) and known.same_names else _patience(known, at - wait.since)
    if now < wait.since + patience:
        return WorkDue(drop=old, next=min(wait.since + patience, look), waits=wait)
    active = tuple(one for one in runs if not one.ended)
    if active and known.concurrency == FORBID:
        # Where it waits, the end of the run that is under way brings the next look.
        return WorkDue(passed=None if known.waits else at, drop=old, next=look)
    if _too_late(known, now - at, patience):
        return WorkDue(passed=at, drop=old, next=look)
    return WorkDue(make=at, drop=(*old, *(active if known.concurrency == REPLACE else ())), next=look)


def last_is_ours(known: Schedule, before: Before) -> bool:
    """Whether Fairway has made the last run, as far as the status of the schedule tells: a controller that was switched
    on since says there of a later one."""
    return before.ours and known.since <= before.passed


def _patience(known: Schedule, left: int) -> int:
    """Half of what is left of the time by which the run has to begin, at most."""
    return min(PATIENCE_MS, PATIENCE_MS if known.deadline is None else (left + known.deadline) // 2)


def _too_late(known: Schedule, late: int, patience: int) -> bool:
    if known.deadline is not None:
        return late > known.deadline
    return not known.catches_up and late > patience + _MISSED_MS


def _old(known: Schedule, runs: Sequence[Run]) -> tuple[Run, ...]:
    """Runs that have ended, beyond those that are kept: the newest ones."""
    gone: list[Run] = []
    for well, most in zip((True, False), known.keep, strict=True):
        ended = sorted((one for one in runs if one.ended and one.well == well), key=lambda one: one.created)
        gone += ended[: max(len(ended) - most, 0)]
    return tuple(gone)
