"""Who is on the way out, for which claim, and what was heard of those who leave for each."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

# Of so many claims it is remembered who left for them: it is asked of those that were answered a moment ago.
_HEARD = 4_096


class HeardLeaving(Struct):
    """The attempts that were ever heard to leave for one claim, and what they gave back of the quota, by its keys."""

    attempts: dict[str, None] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)


class Leaving(Struct):
    """The jobs whose last attempt is on its way out, and for which claim; `heard` is by claim, of the last ones."""

    jobs: dict[str, str] = field(default_factory=dict)
    heard: dict[str, HeardLeaving] = field(default_factory=dict)

    def add(self, name: str, attempt: int, claim: str, charged: Iterable[tuple[str, int]]) -> None:
        """`claim` is empty where it leaves for none."""
        self.jobs[name] = claim
        if not claim:
            return
        heard = self.heard.setdefault(claim, HeardLeaving())
        if f"{name}/{attempt}" not in heard.attempts:
            heard.attempts[f"{name}/{attempt}"] = None
            for key, amount in charged:
                heard.given[key] = heard.given.get(key, 0) + amount
        if len(self.heard) > _HEARD:
            del self.heard[next(iter(self.heard))]

    def all_heard(self, claim: str, evicted: int) -> bool:
        """Whether all that were evicted for the claim were heard to leave."""
        heard = self.heard.get(claim)
        return heard is not None and len(heard.attempts) >= evicted

    def yet_to_give(self, claim: str, short: Mapping[str, int]) -> dict[str, int]:
        """What of the quota that the claim was `short` of others have yet to give back, so far as is heard."""
        heard = self.heard.get(claim)
        given = heard.given if heard is not None else {}
        return {key: amount - given.get(key, 0) for key, amount in short.items() if amount > given.get(key, 0)}
