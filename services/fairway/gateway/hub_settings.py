"""The hub's policies, priority classes, quota tree and queues on their way to the CONFIG stream: good ones only."""

import msgspec
import structlog

from fairway.domain.decision import Say
from fairway.gateway import hub_objects
from fairway.gateway.hub_events import Announcer, note_of
from fairway.gateway.hub_objects import SETTINGS, TREE, HubObject, digest, hub_object
from fairway.gateway.post import Post
from fairway.gateway.waiting_room import WaitingRoom, policy_copy
from fairway.runtime.loop import World
from fairway.runtime.narrate import reason
from fairway.runtime.ports import Change
from fairway.wire import fleet, subjects
from fairway.wire.reasons import Reason
from fairway.workloads.policies import is_policy, read_policy

log = structlog.get_logger()
_decode = msgspec.json.Decoder(fleet.Message).decode
Key = tuple[str, str, str]


class InForce(msgspec.Struct, frozen=True):
    """What the stream says of one object: its kind with group, and the digest of its manifest."""

    kind: str
    digest: str
    sequence: int = 0


class HubSettings:
    def __init__(self, world: World, room: WaitingRoom, announcer: Announcer) -> None:
        self._world, self._room, self._announcer = world, room, announcer
        self._post = Post(world)
        self._in_force: dict[Key, InForce] = {}
        self._refused: dict[Key, str] = {}
        self._seen: set[tuple[str, Key]] = set()
        # When a priority class, the tree or a queue last came or changed (ms).
        self.changed_at = 0

    def in_force(self, kind: str, name: str) -> bool:
        """Whether there is a good setting of that kind and name."""
        return any((key[0], key[2]) == (kind, name) for key in self._in_force if key[0] == kind)

    async def recall(self) -> None:
        """What the stream holds, so that a restart says nothing twice and notices what was deleted meanwhile."""
        self._in_force, self._refused = {}, {}
        async for one in self._world.bus.history(subjects.CONFIG, last=True):
            try:
                message = _decode(one.data)
            except msgspec.DecodeError:
                continue
            if isinstance(message, fleet.Configured):
                # An absent Raw comes back as the text `null`, not as None.
                manifest = msgspec.json.decode(message.manifest) if message.manifest is not None else None
                if manifest is None:
                    continue
                kind = f"{message.kind}.{manifest.get('apiVersion', '')}"
                if kind in SETTINGS:
                    key = (message.kind, message.namespace, message.name)
                    self._in_force[key] = InForce(kind, digest(manifest), one.sequence)
            elif isinstance(message, fleet.ConfigRefused) and message.reasons:
                self._refused[message.kind, message.namespace, message.name] = ""

    async def take(self, change: Change) -> list[HubObject]:
        """Passes a change on; returns the waiting jobs that a policy was found for."""
        if change.synced:
            await self._drop_unseen(change.kind)
            return []
        one = hub_object(change.kind, change.manifest)
        if change.gone:
            self._seen.discard((one.kind, one.key))
            await self._withdraw(one.key, one.kind)
            return []
        self._seen.add((one.kind, one.key))
        tree = next((key[1:] for key in self._in_force if key[0] == TREE), None)
        reasons = hub_objects.problems_of(one, tree)
        if reasons:
            await self._refuse(one, reasons)
            return []
        return await self._accept(one)

    async def _accept(self, one: HubObject) -> list[HubObject]:
        mark = digest(one.manifest)
        known = self._in_force.get(one.key)
        if known is None or (known.kind, known.digest) != (one.kind, mark):
            await self._post.say([hub_objects.configured(one, self._world.clock.now())])
            self._in_force[one.key] = InForce(one.kind, mark)
            if not is_policy(one.manifest):
                self.changed_at = self._world.clock.now()
        if self._refused.pop(one.key, None) is not None:
            await self._post.say([hub_objects.not_taken(one, (), self._world.clock.now())])
        if not is_policy(one.manifest):
            return []
        return self._room.put(read_policy(one.manifest), policy_copy(one))

    async def _refuse(self, one: HubObject, reasons: tuple[Reason, ...]) -> None:
        """Said once for each wish; the last good one stays in force, and its policy in the room."""
        mark = digest(one.manifest)
        if self._refused.get(one.key) == mark:
            return
        await self._post.say([hub_objects.not_taken(one, reasons, self._world.clock.now())])
        self._refused[one.key] = mark
        kept = "; the last good one stays in force" if one.key in self._in_force else ""
        text = f"{one.plain} is not taken: {'; '.join(map(reason, reasons))}{kept}"
        self._announcer.say(note_of(one, "Refused", text, mark))

    async def _withdraw(self, key: Key, kind: str) -> None:
        known = self._in_force.get(key)
        self._refused.pop(key, None)
        if known is None or known.kind != kind:
            return  # an object of the other group stands under this name
        was = f"{known.digest}/{known.sequence}/{self._world.clock.now()}"
        await self._post.say([self._farewell(key, was)])
        del self._in_force[key]
        self._room.drop(key)

    def _farewell(self, key: Key, was: str) -> Say:
        return hub_objects.withdrawn(key, was, self._world.clock.now())

    async def _drop_unseen(self, kind: str) -> None:
        unseen = [key for key, one in self._in_force.items() if one.kind == kind and (kind, key) not in self._seen]
        for key in sorted(unseen):
            log.info("deleted while nobody looked", kind=kind, namespace=key[1], name=key[2])
            await self._withdraw(key, kind)


