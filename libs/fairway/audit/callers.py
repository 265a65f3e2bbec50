"""Who asked, as an auditor sees it: what comes from outside names a door and its user, and speaks for nobody else."""

from collections import Counter

from fairway.audit.attempts import Spoken, Violation
from fairway.wire import jobs as wire


class CallerCheck:
    """`doors` counts submissions, changes and cancellations by the door that they came through; "" is none that is
    named: said by somebody who is no door."""

    def __init__(self) -> None:
        self.doors = Counter[str]()
        self._heard: set[int] = set()

    def hear(self, spoken: Spoken) -> list[Violation]:
        """What is wrong with who asked for this."""
        message = spoken.message
        if isinstance(message, wire.ManifestsRemoved):
            unheard = [one for one in message.removed if one.sequence not in self._heard]
            self._heard.update(one.sequence for one in unheard)
            self.doors.update(one.who.via if one.who else "" for one in unheard)
        if isinstance(message, wire.Manifested):
            self._heard.add(spoken.sequence)
        if not isinstance(message, wire.Manifested | wire.HoldJob | wire.Cancel):
            return []
        who = message.who
        self.doors[who.via if who else ""] += 1
        if who is None:
            return []
        text = ""
        if isinstance(message, wire.Manifested) and message.source != who.via:
            text = f"it came through {message.source}, and {who} is said to have asked"
        elif who.via == "bus" and who.user != message.tenant:
            text = f"{who} asked for it, for tenant {message.tenant}"
        return [Violation(message.job, spoken.sequence, "who", text)] if text else []
