"""What a decision came to beside what is said of jobs: as its process tells it, and as a replay makes it again."""

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from fairway.domain.decision import Call, Decision, Step
from fairway.wire import views
from fairway.wire.preemption.evictions import Evict, Relieve

_encode = msgspec.json.Encoder().encode


def as_entry(one: Decision) -> views.DecisionMade | int:
    """A number: so many steps and nothing else."""
    relief = _relief(one.steps)
    more = one.calls or one.again_in is not None or one.reminders or one.kept or one.done
    return _made_of(one, relief) if relief or more else len(one.steps)


def made_of(one: Decision) -> views.DecisionMade:
    """What it came to, beside what is said of jobs."""
    return _made_of(one, _relief(one.steps))


def _made_of(one: Decision, relief: tuple[str, ...]) -> views.DecisionMade:
    calls = tuple(map(call_made, one.calls))
    reminders = tuple([each.after for each in one.reminders])
    return views.DecisionMade(len(one.steps), calls, one.again_in, reminders, one.kept, len(one.done), relief)


def _relief(steps: Sequence[Step]) -> tuple[str, ...]:
    """These commands are not in the record; whole they are in RELIEF."""
    return tuple(
        [_in_short(say.message) for step in steps for say in step.events if isinstance(say.message, Relieve | Evict)]
    )


def _in_short(message: Relieve | Evict) -> str:
    count = len(message.victims) if isinstance(message, Evict) else len(message.candidates.attempts)
    return f"{message.verb} {count} {blake2b(_encode(message), digest_size=6).hexdigest()}"


def call_made(one: Call) -> views.CallMade:
    return views.CallMade(one.verb, one.cluster, one.job, one.attempt)
