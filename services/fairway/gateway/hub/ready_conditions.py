"""`status.conditions` Ready on the hub's settings: whether each is in force and, if not, why. Written beside the work.

One patch when the condition changes, none when it does not. A kind whose definition has no status subresource is left
alone; so is a condition that somebody takes away by hand.
"""

import asyncio
from typing import Any

import structlog
from msgspec import Struct

from fairway.explain.wording import rfc3339
from fairway.gateway.hub.objects import HubObject, Json
from fairway.gateway.hub.publishing import one_by_one
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock

log = structlog.get_logger()
READY = "Ready"
IN_FORCE = "InForce"
# Built in, and made without a status.
_WITHOUT = frozenset({"PriorityClass"})
# As the API server has it for conditions of its own.
_MOST = 32_768


class SettingStanding(Struct, frozen=True):
    """What there is to say of an object; `reason` is a word, `text` a sentence."""

    ready: bool
    reason: str
    text: str


def condition_of(one: HubObject, standing: SettingStanding, now: int) -> Json | None:
    """The condition as it has to be written; None when the object says so already."""
    was = ready_of(one)
    said: Json = {
        "type": READY,
        "status": str(standing.ready),
        "reason": standing.reason,
        "message": standing.text[:_MOST],
    }
    generation = (one.manifest.get("metadata") or {}).get("generation")
    if generation is not None:
        said["observedGeneration"] = generation
    if all(was.get(name) == value for name, value in said.items()):
        return None
    since = was.get("lastTransitionTime") if was.get("status") == said["status"] else None
    return {**said, "lastTransitionTime": since or rfc3339(now)}


def ready_of(one: HubObject) -> Json:
    """The condition Ready as the object has it; empty when it has none."""
    return next((found for found in _conditions(one) if found.get("type") == READY), {})


def _conditions(one: HubObject) -> list[Json]:
    status = one.manifest.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


class Conditions:
    """Keeps the last word on each object until it is written; a later one takes its place."""

    def __init__(self, hub: Cluster, clock: Clock) -> None:
        self._hub = hub
        self._clock = clock
        self._waiting: dict[str, tuple[HubObject, SettingStanding]] = {}
        self._written: dict[str, tuple[SettingStanding, Any]] = {}
        self._without: set[str] = set()
        self._news = asyncio.Event()

    def say(self, one: HubObject, standing: SettingStanding) -> None:
        generation = (one.manifest.get("metadata") or {}).get("generation")
        if one.plain in _WITHOUT or one.kind in self._without or not one.uid:
            return
        if self._written.get(one.uid) == (standing, generation):
            return
        self._written[one.uid] = (standing, generation)
        self._waiting[one.uid] = (one, standing)
        self._news.set()

    def spoke(self, uid: str) -> bool:
        """Whether anything was said of the object since this process began."""
        return uid in self._written

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._written.pop(uid, None)
        self._waiting.pop(uid, None)

    async def run(self) -> None:
        await one_by_one(self._waiting, self._news, self._clock, self._write)

    async def _write(self, word: tuple[HubObject, SettingStanding]) -> None:
        one, standing = word
        said = condition_of(one, standing, self._clock.now())
        if said is None or one.kind in self._without:
            return
        others = [each for each in _conditions(one) if each.get("type") != READY]
        # Only onto what was looked at: who is faster is told of soon, and judged anew.
        version = {"resourceVersion": (one.manifest.get("metadata") or {}).get("resourceVersion")}
        body = {"metadata": version, "status": {"conditions": [*others, said]}}
        try:
            taken = await self._hub.patch(one.kind, one.namespace, one.name, body, "status")
            # A patch of nothing tells whether the object is there, and needs no right beyond those that settings need.
            if taken is None and await self._hub.patch(one.kind, one.namespace, one.name, {}) is not None:
                self._without.add(one.kind)
                log.info("no conditions: its definition has no status subresource", kind=one.kind)
        except ClusterRefused as error:
            log.info("condition not taken", kind=one.kind, name=one.name, cause=str(error))
