"""What an agent says: that its cluster is there, what is free in it, and which attempts are on nodes that are away."""

import msgspec
from msgspec import Struct

from fairway.agent.report import Seen, parts
from fairway.agent.settings import AgentSettings
from fairway.domain.events import message_id
from fairway.runtime.ports import Clock, Ids, Outgoing
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Configured, Report, Strand, Stranded

_encode = msgspec.json.Encoder().encode


class Offer(Struct, frozen=True):
    """The kinds that a cluster serves now, the ways in which room can be held there, and whether it converts pods on
    batch resources."""

    kinds: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    batch: bool = False


class AgentMessages:
    """Those of one process of the agent of a cluster."""

    def __init__(self, cluster: str, clock: Clock, ids: Ids, settings: AgentSettings) -> None:
        self._cluster = cluster
        self._clock = clock
        self._settings = settings
        self._epoch = ids.new()
        # In every message's id and nowhere else. Other members publish into the same streams: who could tell the next
        # id would have it taken for said, and a member may not read back what a stream has under it.
        self._secret = ids.new()
        self._sequence = self._warnings = 0

    def introduction(self) -> Outgoing:
        """So that the fleet knows the cluster by name, before and after its reports."""
        name = self._cluster
        facts = self._settings.facts
        joined = {"mode": self._settings.mode} if self._settings.mode else {}
        manifest = msgspec.Raw(_encode({"labels": facts.labels, "taints": facts.taints, **joined}))
        who = Actor(f"cluster:{name}", "agent", self._epoch)
        message = Configured(at=self._clock.now(), kind="Cluster", name=name, manifest=manifest, who=who)
        return self._outgoing("configured", subjects.config("Cluster", "", name), message)

    def reports(self, seen: Seen, offer: Offer, full: bool) -> list[Outgoing]:
        """One report, or several when it is large: then a full one lists the first nodes and deltas add the rest."""
        nodes, gone = seen.take(full)
        subject = subjects.cluster(Report.verb, self._cluster)
        messages = []
        for index, rows in enumerate(parts(nodes, self._settings.most_bytes)):
            self._sequence += 1
            report = Report(
                at=self._clock.now(),
                cluster=self._cluster,
                epoch=self._epoch,
                sequence=self._sequence,
                full=full and index == 0,
                nodes=rows,
                gone=() if index else gone,
                labels=self._settings.facts.labels,
                taints=self._settings.facts.taints,
                kinds=offer.kinds,
                kubernetes=seen.kubernetes,
                holds=offer.holds,
                cordoned=self._settings.facts.cordoned,
                mode=self._settings.mode,
            )
            messages.append(self._outgoing(str(self._sequence), subject, report))
        return messages

    def stranded(self, attempts: tuple[Strand, ...], now: int) -> Outgoing:
        self._warnings += 1
        message = Stranded(at=now, cluster=self._cluster, attempts=attempts)
        subject = subjects.cluster(Stranded.verb, self._cluster)
        return self._outgoing(f"stranded-{self._warnings}", subject, message)

    def _outgoing(self, what: str, subject: str, message: Configured | Report | Stranded) -> Outgoing:
        name = message_id("agent", self._cluster, self._secret, what)
        kind = "fairway." + ".".join(subject.split(".")[1:3])
        source = f"/fairway/agent/{subjects.token(self._cluster)}"
        return Outgoing(name, subject, _encode(message), kind, source, unguessable=True)
