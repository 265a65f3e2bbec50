"""One job as an auditor sees it: which attempt is open, how it ended, and what may not have been said."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from fairway.audit.attempts import Open, Spoken, Violation
from fairway.audit.rev_order import RevOrder
from fairway.domain.job import ends
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.policy import Placement
from fairway.wire.spec import JobSpec
from fairway.wire.workload import Workload

# A rule that was broken, in a word, and how.
_Breach = tuple[str, str]


class AdmittedJob(Struct):
    """What the job was admitted with: what one pod of each pod set requests, and all of them together."""

    requests: dict[str, Resources] = {}
    total: Resources = {}
    gang: int = 0
    placement: Placement = Placement()

    def allows(self, cluster: str) -> bool:
        """By the names in its policy; what labels a cluster had, the record does not say."""
        return any(
            cluster not in one.exclude and (not one.cluster_names or cluster in one.cluster_names)
            for one in self.placement.affinities
        )


class AuditedAttempts(Struct):
    """The `number` of the present attempt, and how many were `reserved`; it is `over` once it failed or was lost, and
    `charged` while its quota is: with what it was `granted`. `open` is the one that is authorised."""

    number: int = 0
    reserved: int = 0
    charged: bool = False
    over: bool = False
    open: Open | None = None
    granted: Resources = {}

    def reserve(self, message: wire.Reserved) -> None:
        self.open = Open(message.attempt, message.cluster)
        self.reserved += 1

    def unheard(self) -> None:
        """The word that is missing may have been of its dispatch; of an attempt that is over, of its removal."""
        if self.open is not None:
            self.open.dispatched = True
            self.open = self.open if self.open.number == self.number else None


class JobHistory:
    """What was said of one job, read in `order`."""

    def __init__(self, job: str, tenant: str) -> None:
        self.job = job
        self.tenant = tenant
        self.order = RevOrder(job)
        self.attempts = AuditedAttempts()
        self.asked = AdmittedJob()
        self.accepted = False
        self.end = ""
        self.last = ""
        self.reason = ""

    def read(self, spoken: Spoken) -> list[Violation]:
        """The breaches of one message, which becomes part of the life."""
        message = spoken.message
        found = [*self._after_end(message), *self._numbers(message), *self._places(message)]
        self._take(message)
        return [Violation(self.job, spoken.sequence, rule, text) for rule, text in found]

    def _after_end(self, message: JobMessage) -> Iterator[_Breach]:
        if not self.end or isinstance(message, wire.Recall | wire.Removed):
            return
        what = f"it had {self.end} and was then {message.verb}" if ends(message) else f"{message.verb} after its end"
        yield "end", what

    def _numbers(self, message: JobMessage) -> Iterator[_Breach]:
        number = message.attempt
        present = self.attempts.number
        if isinstance(message, wire.Recall | wire.Removed | wire.Rejected | wire.Cancelled):
            if number > present and present:
                yield "attempt", f"{message.verb} of attempt {number}, but there were only {present}"
        elif isinstance(message, wire.Queue) and self.attempts.over:
            if number != present + 1:
                yield "attempt", f"attempt {number} follows attempt {present}"
        elif number != (present or 1):
            yield "attempt", f"{message.verb} of attempt {number} while attempt {present or 1} is the present one"

    def _places(self, message: JobMessage) -> Iterator[_Breach]:
        checks = _CHECKS.get(type(message))
        return checks(self, message) if checks is not None else iter(())

    def _amended(self, message: wire.Amended) -> Iterator[_Breach]:
        """While an attempt is on its way or runs, nothing changes but what was done to its own object."""
        if not self.attempts.charged:
            return
        here = self.attempts.open
        if not message.cluster:
            yield "policy", f"its policy was changed while attempt {message.attempt} was on its way or running"
        elif here is None or not here.dispatched or (here.number, here.cluster) != (message.attempt, message.cluster):
            yield "place", f"attempt {message.attempt} was changed in {message.cluster}, where it was not dispatched"
        elif not _within(_asked(message.spec, {}).total, self.attempts.granted):
            yield "quota", f"attempt {message.attempt} was changed to ask for more than it was let go with"

    def _placed(self, message: wire.Placed) -> Iterator[_Breach]:
        if not self.asked.allows(message.cluster):
            yield "policy", f"attempt {message.attempt} was placed in {message.cluster}, which its policy rules out"

    def _reserved(self, message: wire.Reserved) -> Iterator[_Breach]:
        here = self.attempts.open
        if here is not None:
            former = f"attempt {here.number} in {here.cluster}"
            yield "one attempt", f"attempt {message.attempt} was reserved while {former} was not gone"
        if not self.attempts.charged:
            yield "quota", f"attempt {message.attempt} was reserved without a charge"
        pods = sum(slot.count for slot in message.slots)
        if pods < self.asked.gang:
            yield "gang", f"{pods} pods were reserved of a gang of {self.asked.gang}"

    def _dispatched(self, message: wire.Dispatched) -> Iterator[_Breach]:
        here = self.attempts.open
        if here is None or (here.number, here.cluster) != (message.attempt, message.cluster):
            where = f"attempt {here.number} is in {here.cluster}" if here else "nothing is reserved"
            yield "place", f"attempt {message.attempt} was dispatched to {message.cluster}, but {where}"

    def _ran(self, message: wire.Running | wire.Succeeded) -> Iterator[_Breach]:
        here = self.attempts.open
        known = here is not None and here.dispatched and not self.attempts.over
        if not known or here is None or (here.number, here.cluster) != (message.attempt, message.cluster):
            what = f"attempt {message.attempt} {message.verb} in {message.cluster}"
            yield "place", f"{what}, where it was not dispatched"

    def _take(self, message: JobMessage) -> None:
        self.last = message.verb
        self._waits(message)
        self._goes_on(message)
        if not isinstance(message, wire.Recall | wire.Removed):
            self.attempts.number = max(self.attempts.number, message.attempt)
        here = self.attempts.open
        removed = isinstance(message, wire.Removed) and here is not None and message.attempt == here.number
        if removed or ends(message):
            self.attempts.open = None
        if ends(message):
            self.end = self.end or ("failed" if isinstance(message, wire.Lost) else message.verb)
            self.attempts.charged = False

    def _waits(self, message: JobMessage) -> None:
        """What it asks for, and why it does not go on."""
        match message:
            case wire.Admitted():
                self.accepted = True
                self.asked = _asked(message.spec, self.asked.total)
            case wire.Amended():
                self.asked = _asked(message.spec, {})
            case wire.Queue():
                self.reason = message.why.text if message.why else ""
            case wire.Blocked():
                self.reason = message.why.text
            case wire.Dequeued():
                self.reason = ""

    def _goes_on(self, message: JobMessage) -> None:
        attempts = self.attempts
        match message:
            case wire.Queue():
                attempts.charged = attempts.over = False
            case wire.Blocked():
                attempts.charged = False  # it waits, though the word that it came back may be missing
            case wire.Dequeued():
                attempts.charged = True
                attempts.granted = message.charge
            case wire.Reserved():
                attempts.reserve(message)
            case wire.Dispatched() if attempts.open is not None:
                attempts.open.dispatched = True
            case wire.Failed() | wire.Lost():
                attempts.over = True

    def left(self) -> Iterator[Violation]:
        """What only the end of the record shows."""
        yield from self.order.left()
        if self.accepted and not self.end and self.attempts.open is None and not self.reason:
            text = f"no end and no reason for waiting; the last word on it is {self.last}"
            yield Violation(self.job, 0, "reason", text)


def _asked(spec: JobSpec, before: Resources) -> AdmittedJob:
    """Who is admitted twice asks for all of it twice."""
    work: Workload = spec.workload
    total = {**before}
    for pods in work.pod_sets:
        for name, amount in pods.requests.items():
            total[name] = total.get(name, 0) + amount * pods.count
    requests = {pods.name: {**pods.requests, "pods": 1} for pods in work.pod_sets}
    return AdmittedJob(requests, total, work.gang_minimum, spec.placement)


def _within(total: Resources, most: Resources) -> bool:
    return all(amount <= most.get(name, 0) for name, amount in total.items())


_CHECKS: dict[type[JobMessage], Callable[[JobHistory, Any], Iterator[_Breach]]] = {
    wire.Amended: JobHistory._amended,
    wire.Placed: JobHistory._placed,
    wire.Reserved: JobHistory._reserved,
    wire.Dispatched: JobHistory._dispatched,
    wire.Running: JobHistory._ran,
    wire.Succeeded: JobHistory._ran,
}
