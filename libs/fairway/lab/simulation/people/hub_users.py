"""Those who use the hub: they apply jobs, change, hold, delete and replace them, and set policies and queues there."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import msgspec

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving, uid_of
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.members.pods import WORKFLOW
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people import hub_jobs
from fairway.lab.simulation.people.faults import FaultProfile
from fairway.lab.simulation.people.hub_attackers import MALFORMED, HubAttackers
from fairway.lab.simulation.people.hub_companions import HubCompanions
from fairway.lab.simulation.people.hub_jobs import NamedByJob
from fairway.lab.simulation.people.hub_setters import LATER, HubSetters
from fairway.lab.simulation.people.hub_templates import HubTemplates
from fairway.lab.simulation.people.users import TENANTS
from fairway.runtime.ports import Outgoing
from fairway.wire import inbound as wire
from fairway.wire import subjects

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_HOUR = 3600.0
# How long the hub's API is away (s).
_AWAY = (1.0, 1.0, 20.0, 20.0, 120.0, 120.0, 600.0, 3600.0)


class HubUsers:
    """What they do in the time of trouble is drawn from a chance of its own."""

    def __init__(self, fleet: SimulatedFleet, hub: SimulatedHub, profile: FaultProfile, plan: RunPlan) -> None:
        self._fleet = fleet
        self._hub = hub
        self._rng = Random(f"hub {plan.seed}")
        self._setters = HubSetters(hub, self._rng)
        self._profile = profile
        self._plan = plan
        self._companions = HubCompanions(hub, plan.seed) if plan.companions else None
        self._applied = 0
        self._lasting: set[asyncio.Future[None]] = set()
        self.drawn = Counter[str]()

    async def live(self) -> None:
        """Returns when the time of trouble is over."""
        templates = HubTemplates(self._hub, self._plan.seed, self._plan.on_hub, self._plan.hours)
        others = asyncio.ensure_future(templates.live())
        loop = asyncio.get_running_loop()
        end = loop.time() + self._plan.hours * _HOUR
        rates = self._rates()
        total = sum(rate for rate, _ in rates)
        while True:
            await asyncio.sleep(self._rng.expovariate(total / _HOUR))
            if loop.time() > end:
                break
            (act,) = self._rng.choices([one for _, one in rates], [rate for rate, _ in rates])
            self.drawn[f"hub_{act.__name__.strip('_')}"] += 1
            lasting = asyncio.ensure_future(act())
            self._lasting.add(lasting)
            lasting.add_done_callback(self._lasting.discard)
        while self._lasting or not others.done():
            await asyncio.sleep(1)
        await others
        self._settle()

    def _rates(self) -> list[tuple[float, Callable[[], Awaitable[None]]]]:
        """By the hour."""
        jobs = self._plan.on_hub
        busy = jobs / min(1, self._plan.hours)
        attackers = HubAttackers(self._hub, self._rng)
        profile = self._profile
        along = [(busy / 4, self._companions.change)] if self._companions is not None else []
        return [
            *along,
            (jobs / self._plan.hours * 1.3, self._apply),
            (busy / 4, self._edit),
            (busy / 6, self._hold),
            (busy / 6, self._let_go),
            (busy / 10, self._delete),
            (busy / 12, self._replace),
            (busy / 30, self._cancel),
            (6 + busy / 5, self._setters.change_policy),
            (2 + busy / 40, self._setters.change_queue),
            (profile.api_losses / 2, self._api_loss),
            (profile.forgers / 5, attackers.flood),
            (profile.forgers, attackers.malformed),
            (profile.forgers, attackers.status_by_hand),
            (profile.forgers / 2, attackers.finalizers),
            (profile.forgers / 2, attackers.reserved),
            (profile.forgers / 2, attackers.huge),
            (profile.forgers / 3, attackers.settings),
        ]

    # Jobs.

    async def _apply(self) -> None:
        if self._applied >= self._plan.on_hub:
            return
        self._applied += 1
        rng = self._rng
        tenant = rng.choice(TENANTS)
        # Sometimes a name that a job of another door has, or will have.
        name = f"job-{rng.randrange(self._plan.jobs)}" if rng.random() < 0.1 else f"hub-{self._applied}"
        luck = rng.random()
        if luck < 0.6:
            queue = "strict" if luck < 0.1 else ""
            self._put(hub_jobs.job(rng, name, tenant, NamedByJob(queue=queue)))
        elif luck < 0.8:
            await self._with_policy(name, tenant)
        else:
            await self._with_setting(name, tenant)

    def _put(self, manifest: Json) -> StoredObject | None:
        if self._companions is not None:
            manifest = self._companions.named(manifest)
        return self._hub.put(hub_jobs.key_of(manifest), manifest)

    async def _with_policy(self, name: str, tenant: str) -> None:
        """Of its own: before, after, or never."""
        rng = self._rng
        own = f"own-{self._applied}"
        manifest = hub_jobs.job(rng, name, tenant, NamedByJob(own))
        when = rng.choice(("before", "after", "after", "never"))
        if when == "before":
            self._setters.set(hub_jobs.POLICY, hub_jobs.own_policy(own, tenant))
            await asyncio.sleep(rng.choice((0.0, 2.0)))
        self._put(manifest)
        if when == "after":
            await asyncio.sleep(rng.choice(LATER))
            self._setters.set(hub_jobs.POLICY, hub_jobs.own_policy(own, tenant))

    async def _with_setting(self, name: str, tenant: str) -> None:
        """A queue or a class that is there later, or never."""
        rng = self._rng
        called = f"late-{self._applied}"
        manifest = hub_jobs.job(rng, name, tenant, NamedByJob(queue=called))
        setting = (hub_jobs.QUEUE, hub_jobs.queue(called, rng.choice(("Priority", "Block"))))
        if rng.random() < 0.4:
            manifest = hub_jobs.job(rng, name, tenant, NamedByJob(priority_class=called))
            setting = (hub_jobs.CLASS, hub_jobs.priority_class(called, rng.choice((1, 1000))))
        self._put(manifest)
        if rng.random() < 0.75:
            await asyncio.sleep(rng.choice(LATER))
            self._setters.set(*setting)

    def _whole(self) -> list[StoredObject]:
        """Those of the tenants that are not on their way out, and can be read."""
        objects = [one for one in self._hub.objects() if one.key.namespace in TENANTS and not leaving(one)]
        whole = [one for one in objects if not one.key.name.startswith(MALFORMED)]
        return [one for one in whole if kind_of(one) != WORKFLOW]

    def _some(self) -> StoredObject | None:
        found = self._whole()
        return self._rng.choice(found) if found else None

    async def _edit(self) -> None:
        rng = self._rng
        found = self._some()
        if found is None:
            return
        by = rng.choice((-1, 1))
        how: list[Callable[[Json], Json]] = [
            lambda one: hub_jobs.resized(one, by),
            lambda one: hub_jobs.resized(one, by),
            lambda one: hub_jobs.annotated(one, "note", str(rng.random())),
            lambda one: hub_jobs.annotated(one, hub_jobs.QUEUE_NAME, rng.choice(("strict", "", "nowhere"))),
            lambda one: hub_jobs.reimaged(one, f"x:{rng.randrange(100)}"),
        ]
        change = rng.choice(how)
        self._hub.edit(kind_of(found), found, change)
        if rng.random() < 0.2:  # and back, or once more
            await asyncio.sleep(rng.choice((0.0, 0.3, 20.0)))
            self._hub.edit(kind_of(found), found, rng.choice(how))

    async def _hold(self) -> None:
        self._suspend(True)

    async def _let_go(self) -> None:
        self._suspend(False)

    def _suspend(self, wanted: bool) -> None:
        fit = [one for one in self._whole() if hub_jobs.is_held(one.obj.get("spec")) != wanted]
        if fit:
            found = self._rng.choice(fit)
            self._hub.edit(kind_of(found), found, lambda one: hub_jobs.held(one, wanted))

    async def _delete(self) -> None:
        if (found := self._some()) is not None:
            self._hub.remove(found)

    async def _replace(self) -> None:
        """Deleted, and another one of its name applied, at once or a little later."""
        found = self._some()
        if found is None:
            return
        self._hub.remove(found)
        await asyncio.sleep(self._rng.choice((0.0, 0.0, 0.5, 30.0)))
        names = NamedByJob((found.obj["metadata"].get("labels") or {}).get("policy", ""))
        self._put(hub_jobs.job(self._rng, found.key.name, found.key.namespace, names))

    async def _cancel(self) -> None:
        """Through another door: its object stays."""
        live = [job for _, job in sorted(rows(self._fleet).items()) if job.hub_uid and not job.ended]
        if not live:
            return
        job = self._rng.choice(live)
        message = wire.CancelRequest(job=job.id, at=self._fleet.clock.now())
        name = f"hub-cancel-{job.id}-{self._rng.randrange(10**9)}"
        await self._fleet.publish(Outgoing(name, subjects.inbound(message.verb, job.tenant), _encode(message)))

    # Fate.

    async def _api_loss(self) -> None:
        hub = self._hub
        if hub.away:
            return
        hub.away = True
        hub.lost += 1
        began = self._fleet.clock.now()
        seconds = self._rng.choice(_AWAY)
        self.drawn["hub_away_an_hour"] += seconds == _AWAY[-1]
        await asyncio.sleep(seconds)
        hub.away = False
        hub.away_since.append((began, self._fleet.clock.now()))

    def _settle(self) -> None:
        """Some of those who hold their jobs let them go in the end, and some do not."""
        for found in self._whole():
            if hub_jobs.is_held(found.obj.get("spec")) and self._rng.random() < 0.7:
                self._hub.edit(kind_of(found), found, lambda one: hub_jobs.held(one, False))
        for uid in [uid_of(one) for one in self._hub.objects() if leaving(one)]:
            self._free(uid)

    def _free(self, uid: str) -> None:
        """Who kept an object that was deleted lets go of it."""
        for found in self._hub.objects():
            if uid_of(found) == uid:
                self._hub.edit(kind_of(found), found, hub_jobs.without_finalizers)
