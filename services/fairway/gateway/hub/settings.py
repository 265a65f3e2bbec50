"""The hub's policies, priority classes, quota tree, queues and tenant profiles, and what its namespaces' labels say, on
their way to the CONFIG stream: good ones only."""

from typing import Any

import msgspec
import structlog

from fairway.domain.decision import Say
from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces, reserved_reason
from fairway.explain.events import reason
from fairway.gateway.hub import objects
from fairway.gateway.hub.events import Announcer, note_of
from fairway.gateway.hub.objects import QUEUE, WATCHED, HubObject, Key, hub_object, of_hub, only_named
from fairway.gateway.hub.publishing import HubOutbox, Post
from fairway.gateway.hub.ready_conditions import IN_FORCE, Conditions, SettingStanding, ready_of
from fairway.gateway.hub.waiting_objects import WaitingObjects
from fairway.gateway.policy_limits import beyond
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import World
from fairway.runtime.views.settings import complaint, setting
from fairway.wire import fleet, subjects
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason
from fairway.workloads.settings.field_effects import said_of
from fairway.workloads.settings.policies import CLUSTER_WIDE, NAMESPACED, is_policy

log = structlog.get_logger()
_GOOD = "in force in the whole fleet"
_LINE_OF_NOBODY = (
    f"{_GOOD}; its annotation {ALLOW_NAMESPACES} lists no namespace, so that jobs may name it only "
    "if a TenantProfile lists it or the quota leaf that it stands for is theirs"
)


class InForce(msgspec.Struct, frozen=True):
    """What the stream says of one object: its kind with group, and the digest of its manifest."""

    kind: str
    digest: str
    sequence: int = 0


class HubSettings:
    """`_holders` has who is in force where there can be only one; `_aside` whom it keeps out, until it goes."""

    def __init__(
        self,
        world: World,
        room: WaitingObjects,
        announcer: Announcer,
        conditions: Conditions,
        namespaces: SystemNamespaces = SYSTEM_NAMESPACES,
    ) -> None:
        self._world = world
        self._room = room
        self._announcer = announcer
        self._conditions = conditions
        self._namespaces = namespaces
        self._outbox = HubOutbox(Post(world))
        self._in_force: dict[Key, InForce] = {}
        self._holders: dict[Key, Key] = {}
        self._aside: dict[Key, dict[tuple[str, Key], HubObject]] = {}
        self._refused: dict[tuple[str, Key], str] = {}
        self._complaints: set[Key] = set()
        self._seen: set[tuple[str, Key]] = set()
        # When a priority class, the tree or a queue last came or changed (ms).
        self.changed_at = 0

    def in_force(self, kind: str, name: str) -> bool:
        """Whether there is a good PriorityClass or Queue of that name."""
        return (kind, "", name) in self._holders

    def lacking(self, one: HubObject) -> tuple[tuple[str, str], Reason] | None:
        """The first setting that a job's object names and that is not there, and the reason to wait for it; or the
        namespace that it is in, where no job may be."""
        if self.foreign(one):
            return (("Namespace", one.namespace), reserved_reason(one.namespace))
        for kind, name in one.settings:
            if not self.in_force(kind, name):
                code = Code.UNKNOWN_QUEUE if kind == QUEUE else Code.UNKNOWN_PRIORITY_CLASS
                remedy = f"create the {kind}, or name another one or none"
                return (kind, name), Reason(code, f"the hub has no {kind} {name}", remedy=remedy)
        return None

    def foreign(self, one: HubObject) -> bool:
        """It is where no tenant's job may be: what no policy selects there is nothing of Fairway's."""
        return self._namespaces.takes_no_job(one.namespace)

    async def run(self) -> None:
        await self._outbox.run()

    async def recall(self) -> None:
        """What the stream holds, so that a restart says nothing twice and notices what was deleted meanwhile."""
        self._in_force = {}
        self._holders = {}
        self._complaints = set()
        async for one in self._world.bus.history(subjects.CONFIG, last=True):
            if (found := setting(one)) is not None:
                self._remember(*found, one.sequence)
            elif (refused := complaint(one)) is not None:
                self._complaints.add(refused)

    def _remember(self, message: fleet.Configured, manifest: dict[str, Any] | None, sequence: int) -> None:
        kind = f"{message.kind}.{(manifest or {}).get('apiVersion', '')}"
        if manifest is not None and kind in WATCHED:
            key = (message.kind, message.namespace, message.name)
            self._in_force[key] = InForce(kind, hub_object(kind, manifest).digest, sequence)
            self._holders[objects.place_of(key)] = key
            if is_policy(manifest):
                self._room.recall(key, manifest)

    async def take(self, change: Change) -> list[HubObject]:
        """Passes a change on; returns the waiting jobs that a policy was found for."""
        if change.synced:
            return await self._drop_unseen(change.kind)
        one = hub_object(change.kind, change.manifest)
        if change.kind == objects.NAMESPACE:
            named = one
            one = objects.labelled(one) or one
            if one is named:
                return await self._leave(one)
        if change.gone:
            return await self._leave(one)
        self._seen.add((one.kind, one.key))
        return await self._judge(one)

    async def _judge(self, one: HubObject) -> list[HubObject]:
        if self._known(one):
            self._say_good(one)
            return []
        reasons = self._beyond(one) or objects.problems_of(one, self._namespaces.admin)
        place = objects.place_of(one.key)
        self._aside.get(place, {}).pop((one.kind, one.key), None)
        if not reasons and (rival := self._rival(one)) is not None:
            reasons = (rival,)
            self._aside.setdefault(place, {})[one.kind, one.key] = one
        if reasons:
            await self._refuse(one, reasons)
            return []
        return await self._accept(one)

    def _known(self, one: HubObject) -> bool:
        """It is in force just as it is: what changed is its status, or nothing."""
        known = self._in_force.get(one.key)
        if known is None or known.kind != one.kind or (one.kind, one.key) in self._refused:
            return False
        if objects.misplaced(one.key, self._namespaces.admin):
            return False
        said = one.key not in self._complaints and (one.key in self._room.manifests or not is_policy(one.manifest))
        return said and known.digest == one.digest

    def _beyond(self, one: HubObject) -> tuple[Reason, ...]:
        """Why it is too large; what is in force just so, since before this was asked, stays."""
        known = self._in_force.get(one.key)
        if known is not None and (known.kind, known.digest) == (one.kind, one.digest):
            return ()
        return beyond(one, self._room.together)

    def _rival(self, one: HubObject) -> Reason | None:
        """Why another object stands where there can be only one."""
        holder = self._holders.get(objects.place_of(one.key))
        if holder is None:
            return None
        return objects.rival_of(one, holder, self._in_force[holder].kind, self._namespaces.admin)

    async def _displace(self, one: HubObject) -> None:
        """Whoever is in force in its place gives way."""
        holder = self._holders.get(objects.place_of(one.key))
        if holder is not None and holder != one.key:
            known = self._in_force.pop(holder)
            now = self._world.clock.now()
            await self._say(holder, objects.withdrawn(holder, f"{known.digest}/{known.sequence}/{now}", now))

    async def _accept(self, one: HubObject) -> list[HubObject]:
        await self._displace(one)
        known = self._in_force.get(one.key)
        if known is None or (known.kind, known.digest) != (one.kind, one.digest):
            who = of_hub(one.namespace, one.uid)
            await self._say(one.key, objects.configured(one, who, self._world.clock.now()))
            self._in_force[one.key] = InForce(one.kind, one.digest)
            self._holders[objects.place_of(one.key)] = one.key
            if not is_policy(one.manifest):
                self.changed_at = self._world.clock.now()
        if self._refused.pop((one.kind, one.key), None) is not None or one.key in self._complaints:
            self._complaints.discard(one.key)
            await self._say(one.key, objects.not_taken(one, (), self._world.clock.now()))
        self._say_good(one)
        if isinstance(policy := one.understood[0], Policy):
            # With its version, which the record keeps of what goes along with a job.
            return self._room.put(policy, objects.cleaned(one.manifest, keep_version=True))
        return self._room.came(one.plain, one.name)

    def _say_good(self, one: HubObject) -> None:
        """A write for each of ten thousand jobs with policies of their own would say what their bindings say anyway."""
        in_vain = said_of(one.manifest)
        if in_vain or not only_named(one) or ready_of(one) or self._conditions.spoke(one.uid):
            good = _LINE_OF_NOBODY if objects.open_to_nobody(one) else _GOOD
            self._conditions.say(one, SettingStanding(True, IN_FORCE, good + in_vain))

    async def _say(self, key: Key, word: Say) -> None:
        """A policy goes along with the jobs that it selects, and nobody has to wait until the stream has it, too."""
        if key[0] in (NAMESPACED, CLUSTER_WIDE):
            self._outbox.put([word])
        else:
            await self._outbox.say([word])

    async def _refuse(self, one: HubObject, reasons: tuple[Reason, ...]) -> None:
        """Said once for each wish; the last good one stays in force, and its policy in the room."""
        known = self._in_force.get(one.key)
        kept = "; the last good one stays in force" if known is not None and known.kind == one.kind else ""
        text = f"{'; '.join(map(reason, reasons))}{kept}"
        self._conditions.say(one, SettingStanding(False, reasons[0].code.value, text))
        mark = f"{one.digest}/{reasons[0].code.value}"
        if self._refused.get((one.kind, one.key)) == mark:
            return
        await self._say(one.key, objects.not_taken(one, reasons, self._world.clock.now()))
        self._refused[one.kind, one.key] = mark
        self._announcer.say(note_of(one, "Refused", f"{one.plain} is not taken: {text}", mark))

    async def _leave(self, one: HubObject) -> list[HubObject]:
        self._seen.discard((one.kind, one.key))
        self._refused.pop((one.kind, one.key), None)
        self._aside.get(objects.place_of(one.key), {}).pop((one.kind, one.key), None)
        self._conditions.forget(one.uid)
        return await self._withdraw(one.key, one.kind)

    async def _withdraw(self, key: Key, kind: str) -> list[HubObject]:
        """It is no longer in force; whom it kept out is looked at again, the oldest first. Returns as `take` does."""
        known = self._in_force.get(key)
        if known is None or known.kind != kind:
            return []  # an object of the other group stands under this name
        was = f"{known.digest}/{known.sequence}/{self._world.clock.now()}"
        await self._say(key, objects.withdrawn(key, was, self._world.clock.now()))
        place = objects.place_of(key)
        del self._in_force[key]
        if self._holders.get(place) == key:
            del self._holders[place]
        self._room.drop(key)
        kept_out = sorted(self._aside.pop(place, {}).values(), key=lambda one: (one.created, one.namespace, one.name))
        return [job for one in kept_out for job in await self._judge(one)]

    async def _drop_unseen(self, kind: str) -> list[HubObject]:
        unseen = [key for key, one in self._in_force.items() if one.kind == kind and (kind, key) not in self._seen]
        released: list[HubObject] = []
        for key in sorted(unseen):
            log.info("deleted while nobody looked", kind=kind, namespace=key[1], name=key[2])
            released += await self._withdraw(key, kind)
        return released
