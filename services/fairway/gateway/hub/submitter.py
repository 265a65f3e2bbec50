"""From objects of the hub to their submissions: each once, and anew when one was refused and then changed."""

from collections.abc import Sequence

import structlog

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.events import another_id
from fairway.domain.job import State
from fairway.domain.names import job_id
from fairway.domain.submission import HUB_CLIENT, Asked, Submission, submission
from fairway.gateway.http.answers import Slim
from fairway.gateway.hub.objects import HubObject, cleaned, ended, of_hub
from fairway.gateway.hub.pending_updates import PendingUpdates
from fairway.gateway.hub.settings import HubSettings
from fairway.gateway.hub.waiting_objects import WaitingObjects
from fairway.gateway.reader import Reader, decoded
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Wanted, World
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.registry import KINDS

log = structlog.get_logger()


class Submitter:
    """Objects that no policy selects, those that name a setting which is not there, and those that were refused, stay
    in the waiting room. `settings` say which setting, and why; what is where no job may be is told so if a policy
    selects it, and else is left alone."""

    def __init__(
        self, world: World, hub: Cluster, room: WaitingObjects, updates: PendingUpdates, settings: HubSettings
    ) -> None:
        self._clock = world.clock
        self._hub = hub
        self._room = room
        self._updates = updates
        self._settings = settings
        self._rows = Reader(world.store)
        # Jobs that do not have the id that the uid gives, because that one was refused.
        self._others: dict[str, str] = {}

    def job(self, one: HubObject) -> str:
        """The id of the job that stands for an object."""
        return self._others.get(one.uid) or job_of(one)

    async def jobs_of(self, gone: Sequence[HubObject]) -> dict[str, HubObject]:
        """The jobs of objects that are no more."""
        await self._known(gone)
        return {self._others.pop(one.uid, "") or job_of(one): one for one in gone}

    async def words(self, objects: Sequence[HubObject]) -> list[tuple[HubObject, Say]]:
        """What is to be said for them, and for which. Raises Unreachable."""
        known = await self._known(objects)
        words: list[tuple[HubObject, Say]] = []
        for one in objects:
            if one.uid not in known and not ended(one) and (said := self._claimed(one)):
                words.append((one, said.say))
        return words + await self._changed([one for one in objects if known.get(one.uid) == State.REJECTED])

    async def _known(self, objects: Sequence[HubObject]) -> dict[str, str]:
        """The state of those that were submitted before, by this process or another."""
        wanted = Wanted(rows={decision.CLIENTS: list(map(_client, objects))})
        for one in objects:
            wanted.add(decision.JOBS, job_of(one))
        found = (await self._rows.read(wanted)).rows
        known: dict[str, str] = {}
        for one in objects:
            if (row := found.get((decision.JOBS, job_of(one)))) is not None:
                known[one.uid] = decoded(row.data, Slim).state
            if (client := found.get((decision.CLIENTS, _client(one)))) is not None:
                job, _ = decoded(client.data, tuple[str, str])
                known[one.uid] = State.ADMITTED
                if job != job_of(one):
                    self._others[one.uid] = job
        return known

    async def _changed(self, objects: Sequence[HubObject]) -> list[tuple[HubObject, Say]]:
        """Of objects that were refused: the submission of those that are no longer what was refused."""
        if not objects:
            return []
        said = {one.uid: self._claimed(one, again=True) for one in objects}
        ids = {uid: another_id(new.job, new.say.id, new.digest) for uid, new in said.items() if new}
        names = [*map(job_of, objects), *ids.values()]
        refused = {name: job.refused for name, job in (await self._rows.jobs(names)).items()}
        words: list[tuple[HubObject, Say]] = []
        for one in objects:
            new = said[one.uid]
            if new is not None and refused.get(job_of(one)) != new.digest:
                self._others[one.uid] = ids[one.uid]
                if ids[one.uid] not in refused and await self._reset(one):
                    words.append((one, new.say))
                    continue
            self._room.wait(one)
        return words

    async def _reset(self, one: HubObject) -> bool:
        """Takes back that the object failed. Of a batch Job the API server does not take it back, ever."""
        if not one.manifest.get("status"):
            return True
        where = (one.kind, one.namespace, one.name, {"status": None})
        try:
            if await self._hub.patch(*where, "status") is None:
                await self._hub.patch(*where)
        except ClusterRefused as error:
            log.info("not submitted anew: delete it and apply it again", kind=one.kind, name=one.name, cause=str(error))
            return False
        return True

    def _claimed(self, one: HubObject, again: bool = False) -> Submission | None:
        """None when no policy selects it, or a setting that it names is not there: then it waits, and is told so.
        `again`: what it was before was refused."""
        policies = self._room.policy_for(one)
        if isinstance(policies, Reason):
            self._wait(one, None, policies)
            return None
        if lacks := self._settings.lacking(one):
            self._wait(one, *lacks)
            return None
        asked = Asked(cleaned(one.manifest), policies, f"{HUB_CLIENT}{one.uid}")
        ref = wire.HubRef(one.uid, KINDS[one.kind].plural)
        return submission(asked, of_hub(one.namespace, one.uid), self._clock.now(), ref, again)

    def unclaimed(self, one: HubObject) -> None:
        """Has it told once more if it waits for a policy or another setting."""
        why = self._room.policy_for(one)
        if not isinstance(why, Reason):
            lacks = self._settings.lacking(one)
            why = lacks[1] if lacks else why
        if isinstance(why, Reason):
            self._tell(one, why)

    def _wait(self, one: HubObject, lacks: tuple[str, str] | None, why: Reason) -> None:
        self._room.wait(one, lacks)
        self._tell(one, why)

    def _tell(self, one: HubObject, why: Reason) -> None:
        if why.code is not Code.NO_POLICY or not self._settings.foreign(one):
            self._updates.lacks(one, why, self._clock.now())


def _client(one: HubObject) -> str:
    return f"{one.namespace}/{HUB_CLIENT}{one.uid}"


def job_of(one: HubObject) -> str:
    """The id of the first job that stands for an object; admission derives the same."""
    return job_id(one.namespace, f"{HUB_CLIENT}{one.uid}", one.name)
