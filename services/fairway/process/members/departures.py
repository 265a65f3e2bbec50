"""When a joined cluster has left, the fleet is told: its name is no cluster's any more, and its room is nobody's."""

import msgspec
import structlog
from msgspec import Raw, structs

from fairway.domain.events import message_id
from fairway.process.members.enrolment import Enrolment
from fairway.runtime.ports import Bus, Clock, Outgoing
from fairway.runtime.record.publishable import Unsayable
from fairway.runtime.retry import until_reached
from fairway.runtime.views.settings import setting
from fairway.wire import fleet, subjects
from fairway.wire.envelope import Actor

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
# Its agent in this process has been told to end by then, and says no more.
_SETTLE_S = 1.0
_AGAIN_S = 1.0
SUBJECTS = (subjects.configs("Cluster"), subjects.configs("Member"))


class Departures:
    """Runs beside the agents. What left while no such process was alive is found at the start."""

    def __init__(self, bus: Bus, clock: Clock, enrolment: Enrolment) -> None:
        self._bus = bus
        self._clock = clock
        self._enrolment = enrolment

    async def run(self) -> None:
        await self._enrolment.known.wait()
        joined = await until_reached("agent", self._clock, self._joined, _AGAIN_S)
        for name in joined - set(self._enrolment.secrets):
            await self._say(name)
        while True:
            await self._say(await self._enrolment.left.get())

    async def _joined(self) -> set[str]:
        """Those that the fleet takes for joined clusters: what a join said of them has the cluster's uid, and their
        introductions have a mode. They may withdraw the latter themselves."""
        found = set()
        async for one in self._bus.history(subjects.CONFIG, SUBJECTS, last=True):
            known = setting(one)
            said = (known[1] if known else None) or {}
            if known is not None and said.get("uid" if known[0].kind == "Member" else "mode"):
                found.add(known[0].name)
        return found

    async def _say(self, name: str) -> None:
        await self._clock.sleep(_SETTLE_S)
        if name in self._enrolment.members:
            return  # it has joined again
        now = self._clock.now()
        who = Actor("hub", "hub")  # where its Secret was, that is gone
        withdrawn = fleet.Configured(at=now, kind="Cluster", name=name, manifest=Raw(b"null"), who=who)
        left = fleet.Report(at=now, cluster=name, epoch="", sequence=0, left=True)
        messages = [
            _outgoing(name, now, subjects.config("Cluster", "", name), withdrawn),
            _outgoing(name, now, subjects.config("Member", "", name), structs.replace(withdrawn, kind="Member")),
            _outgoing(name, now, subjects.cluster(fleet.Report.verb, name), left),
        ]
        try:
            await until_reached("agent", self._clock, lambda: self._bus.publish(messages), _AGAIN_S)
            log.info("cluster has left", cluster=name)
        except Unsayable as error:
            log.error("cluster has left and cannot be named", cluster=name, cause=str(error))


def _outgoing(name: str, now: int, subject: str, message: fleet.FleetMessage) -> Outgoing:
    kind = "fairway." + ".".join(subject.split(".")[1:3])
    return Outgoing(message_id("left", name, now, subject), subject, _encode(message), kind, "/fairway/agent")
