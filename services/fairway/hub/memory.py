"""What the hub service remembers: settings, objects, what is to be submitted, and what is to be told."""

from collections.abc import Iterable, Mapping, Sequence

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.domain.events import name_key
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces
from fairway.domain.tenancy.submission_limits import Limits
from fairway.hub import remembering
from fairway.hub.intake import noting as intake
from fairway.hub.intake import seen_objects, template_changes
from fairway.hub.intake.after_turn import after_turn
from fairway.hub.intake.known_templates import KnownTemplates
from fairway.hub.intake.turns import SubmissionTurns, limited
from fairway.hub.intake.waiting_objects import WaitingObjects
from fairway.hub.job_object import client_of, job_of
from fairway.hub.known_objects import KnownObjects, ObjectsInHand
from fairway.hub.messages import (
    BindingSeen,
    BindingsListed,
    ComplaintsRead,
    Hears,
    ObjectSeen,
    ObjectsListed,
    Resubmit,
    RunsListed,
    ScheduleSeen,
    SettingSeen,
    Show,
    Tell,
    TemplateSeen,
    Turn,
    Wish,
)
from fairway.hub.schedules import noting as schedules
from fairway.hub.schedules.known_schedules import KnownSchedules
from fairway.hub.settings.judge import seen_as
from fairway.hub.settings.settings_in_force import SettingsInForce
from fairway.hub.telling import noting as telling
from fairway.hub.telling.pending_update import touch
from fairway.hub.telling.telling import Telling
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.service import Remembered
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire.envelope import JobMessage
from fairway.workloads.hub.objects import SETTINGS, HubObject, hub_object

# Live jobs whose rows are read together at the start.
_PIECE = 1_000
_KINDS = (*dict.fromkeys(kind.partition(".")[0] for kind in SETTINGS), "Namespace")


class HubMemory(JobsMemory[Hears]):
    """What the record says of settings it takes from the catalog at the start; from then on it knows sooner. Of the
    catalog only the limits of tenants are read later. `looked` are the settings in hand, by kind and key."""

    settings: tuple[str, ...] = ("ElasticQuotaTree",)

    def __init__(self, catalog: Catalog, namespaces: SystemNamespaces = SYSTEM_NAMESPACES) -> None:
        super().__init__()
        self._catalog = catalog
        self._namespaces = namespaces
        self._forget()

    def _forget(self) -> None:
        self.templates = KnownTemplates()
        self.hub_settings = SettingsInForce(WaitingObjects(), self._namespaces)
        self.turns = SubmissionTurns(self.hub_settings)
        self.objects = KnownObjects()
        self.telling = Telling()
        self.schedules = KnownSchedules()
        self.looked: dict[tuple[str, str, str], HubObject] = {}

    @property
    def limits(self) -> Mapping[str, Limits]:
        return self._catalog.limits

    def begin(self) -> None:
        super().begin()
        self._forget()
        self.hub_settings.recall(self._catalog.taken.of(_KINDS))

    def first(self, found: ReadRows | None) -> Wanted | None:
        """Which live jobs stand for objects of the hub, and which objects are held."""
        if found is None:
            return Wanted(whole=(decision.LIVE, decision.HELD))
        if decision.LIVE in found.whole:
            self.objects.unread = sorted(found.whole[decision.LIVE])
            self.objects.remember_held(found.whole.get(decision.HELD, {}))
        intake.live(self.objects, found)
        names = self.objects.unread[:_PIECE]
        del self.objects.unread[:_PIECE]
        return Wanted(rows={decision.JOBS: names}) if names else None

    def wants(self, heard: Sequence[Heard[Hears]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        self.turns.batch = ()
        self.telling.looked = now
        for one in heard:
            if one.outcomes or self._is_its_turn(one.message, now):
                self._wants_for(wanted, one.message, now)
        return wanted

    def _wants_for(self, wanted: Wanted, message: Hears, now: int) -> None:
        match message:
            case ObjectSeen(kind, manifest):
                self._wants_of(wanted, hub_object(kind, manifest))
            case Turn():
                self._wants_for_turn(wanted, now)
            case Resubmit(uid):
                for name in intake.job_anew(self, uid, now):
                    wanted.add(decision.JOBS, name)
            case Tell(uid) | Show(uid) | Wish(uid):
                if (known := self.objects.get(uid)) is not None:
                    wanted.add(decision.JOBS, known.job)
            case fleet.Shown(job=job):
                wanted.add(decision.JOBS, job)
            case message if name := getattr(message, "job", ""):
                wanted.add(decision.JOBS, name)

    def _is_its_turn(self, message: object, now: int) -> bool:
        """Else it only has to wait longer."""
        match message:
            case Tell(uid) if (known := self.objects.get(uid)) is not None:
                return self.telling.turn(known.pending, now) <= now
            case Show(uid) if (known := self.objects.get(uid)) is not None:
                return known.shown.wanted is not None and known.shown.due <= now
        return True

    def _wants_of(self, wanted: Wanted, one: HubObject) -> None:
        wanted.add(decision.JOBS, job_of(one))
        wanted.add(decision.CLIENTS, client_of(one))
        known = self.objects.get(one.uid) or self.objects.left.get(one.uid)
        if known is not None:
            wanted.add(decision.JOBS, known.job)
        for word in self.objects.early.get(one.uid, ()):
            wanted.add(decision.JOBS, word.message.job)

    def _wants_for_turn(self, wanted: Wanted, now: int) -> None:
        self.turns.batch = self.turns.ripe(now)
        for one in self.turns.batch:
            self._wants_of(wanted, one)
            key = name_key(one.namespace, one.plain, one.name)
            wanted.add(decision.NAMES, key)
            if holder := self.turns.rows.names.get(key):
                wanted.add(decision.JOBS, holder)
        if limited(self.turns.batch, self.limits):
            wanted.whole = (decision.PENDING,)

    def take(self, found: ReadRows, heard: Sequence[Heard[Hears]], now: int) -> None:
        super().take(found, heard, now)
        self.turns.freed_now = False
        self.objects.in_hand = ObjectsInHand()
        intake.rows(self, found)
        self.looked = {}
        for one in heard:
            if one.outcomes:
                telling.outcomes(self, one)
            if isinstance(one.message, Resubmit):
                intake.refused_again(self, one.message.uid, now)
            self._hear(one, now)

    def _hear(self, one: Heard[Hears], now: int) -> None:
        match message := one.message:
            case SettingSeen():
                self._see_setting(message)
            case ComplaintsRead(keys):
                self.hub_settings.complaints |= set(keys)
            case ObjectSeen() | TemplateSeen() | ScheduleSeen() | RunsListed():
                self._see_object(one, message, now)
            case ObjectsListed():
                self.objects.listed = True
            case BindingSeen():
                self.telling.bindings.see(message)
            case BindingsListed(served):
                self.telling.bindings.served = served
                self.telling.bindings.asked = True
                for known in self.objects.there.values() if served else ():
                    touch(known.pending, now)
            case Turn():
                self.turns.next_at = None
            case JobMessage() | fleet.Shown():
                telling.of_job(self, one, now)

    def _see_object(
        self, one: Heard[Hears], message: ObjectSeen | TemplateSeen | ScheduleSeen | RunsListed, now: int
    ) -> None:
        match message:
            case TemplateSeen():
                template_changes.see(self, message)
            case ScheduleSeen():
                schedules.seen(self, message)
            case RunsListed(kind):
                self.schedules.list(kind)
            case ObjectSeen():
                seen_objects.object_seen(self, one, message, now)
                schedules.run_seen(self, message)

    def _see_setting(self, message: SettingSeen) -> None:
        one = seen_as(message)
        if message.gone:
            self.hub_settings.gone(one)
            return
        self.looked[one.key] = one
        for waiting in self.hub_settings.see(one, message.place):
            self.turns.put(waiting)

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.HELD:
                intake.held(self, write.key, write.value)
        for say in step.events:
            intake.said(self, say)

    def make_up(self, heard: Heard[Hears], decided: Decision, now: int) -> Decision:
        made = super().make_up(heard, decided, now)
        telling.decided(self, heard, made, now)
        schedules.decided(self, heard, made, now)
        if isinstance(heard.message, Turn):
            after_turn(self, made, now)
        elif isinstance(heard.message, ObjectsListed):
            self.objects.early = {}
        elif isinstance(heard.message, ObjectSeen) and not made.calls:
            self.objects.left.pop(hub_object(heard.message.kind, heard.message.manifest).uid, None)
        return made

    def remembered(self) -> Iterable[Remembered]:
        return remembering.parts(self)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        remembering.recall(self, table, data)
