"""What callers were refused of late, counted: whoever asks a thousand times for what they may not is one line, not a
thousand. Pure."""

from collections.abc import Iterator

from msgspec import structs

from fairway.domain.decision import Say
from fairway.gateway.callers.caller import AccessQuestion
from fairway.runtime.record.audited import audited
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Audited

SERVICE = "gateway"
# One caller is told of by so many different things; and so many callers. What is beyond is told of together.
MOST_OF_ONE = 32
MOST_CALLERS = 1_000
OTHERS = "others"
# No name that Kubernetes takes has more characters.
_LONGEST = 253
_BEYOND = AccessQuestion("*", OTHERS, "")


class Denials:
    def __init__(self) -> None:
        self._times: dict[str, dict[AccessQuestion, tuple[Actor, int]]] = {}

    def put(self, who: Actor, what: AccessQuestion) -> None:
        if who.user not in self._times and len(self._times) >= MOST_CALLERS:
            who = Actor(OTHERS, who.via)
        of = self._times.setdefault(who.user, {})
        if what not in of and len(of) >= MOST_OF_ONE:
            what = _BEYOND
        first, times = of.get(what, (who, 0))
        of[what] = (first, times + 1)

    def take(self, now: int) -> list[Say]:
        """What is to be said of them; then nothing is known of them any more. `who` is the first request of each."""
        said = [audited(SERVICE, refusal(who, what, times, now)) for who, what, times in self._all()]
        self._times = {}
        return said

    def _all(self) -> Iterator[tuple[Actor, AccessQuestion, int]]:
        for of in self._times.values():
            for what, (who, times) in of.items():
                yield who, what, times


def refusal(who: Actor, what: AccessQuestion, times: int, now: int) -> Audited:
    return structs.replace(deed(who, what, now), allowed=False, times=times)


def deed(who: Actor, what: AccessQuestion, now: int) -> Audited:
    """Something that was asked for, as it was done. Names come from the request, which may be a megabyte."""
    return Audited(
        at=now,
        who=who,
        does=what.verb,
        resource=what.title,
        namespace=what.namespace[:_LONGEST],
        name=what.name[:_LONGEST],
    )
