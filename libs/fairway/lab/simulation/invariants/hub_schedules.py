"""What must always hold of the runs that Fairway makes of schedules, by this simulation's own timetable of them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from fairway.lab.kubesim.api.store import Event, StoredObject
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving, said, uid_of
from fairway.lab.simulation.hub.schedules import FORBID, RUN_OF, meant, millis, newest, owner_of, period
from fairway.lab.simulation.invariants.at_the_end import Found
from fairway.lab.simulation.invariants.hub_statuses import OVER, SUCCEEDED, shown
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.virtual_time import T0

Json = dict[str, Any]
_LOOK_S = 5.0
# When nothing goes wrong any more, a run is made this long (s) after it was meant, and the rest comes to an end.
_LATE_S = 600.0
# What is not caught up is made no later than this (ms): a controller is waited for, and a minute is no miss.
_MISSED_MS = 70_000
# How many runs that went well, and badly, are kept where nothing is said.
_KEPT = {"successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}


class _Schedule(Struct):
    """`specs` are its own with when each was written, `runs` when each run was made, by when it was meant (ms)."""

    kind: str
    name: str
    created: int
    specs: list[tuple[int, Json]]
    gone: int = 0
    runs: dict[int, int] = {}

    @property
    def spec(self) -> Json:
        return self.specs[-1][1]

    def between(self, since: int, until: int) -> list[Json]:
        """Its specs of that time."""
        ends = [at for at, _ in self.specs[1:]] + [until + 1]
        return [spec for (at, spec), end in zip(self.specs, ends, strict=True) if at <= until and end > since]


class ScheduleChecks:
    """`runs` counts them by who made them. `breach` is told the rule, the run or the schedule, and a sentence."""

    def __init__(self, fleet: SimulatedFleet, hub: SimulatedHub, breach: Callable[[str, str, str], None]) -> None:
        self.runs = Counter[str]()
        self._fleet = fleet
        self._hub = hub
        self._breach = breach
        self._known: dict[str, _Schedule] = {}
        # How late whoever decides may be when it comes to be done (ms).
        self._slack = fleet.faults.profile.grace.cancel
        for kind, run in RUN_OF.items():
            hub.api.store.listen(hub.resource(kind).storage, self._schedule_seen)
            hub.api.store.listen(hub.resource(run).storage, self._run_seen)

    def _schedule_seen(self, event: Event) -> None:
        new = event.new
        now = self._hub.api.clock.now()
        known = self._known.get(uid_of(new))
        if known is None:
            known = _Schedule(kind_of(new), new.key.name, millis(new.obj["metadata"]["creationTimestamp"]), [])
            self._known[uid_of(new)] = known
        if self._hub.writer.process is not None and (event.old is None or said(event.old.obj) != said(new.obj)):
            self._breach("hub write", known.name, "Fairway changes a schedule, which is its owner's")
        if event.type == "DELETED" or leaving(new):
            known.gone = known.gone or now
        if not known.specs or known.spec != new.obj["spec"]:
            known.specs.append((now, new.obj["spec"]))

    def _run_seen(self, event: Event) -> None:
        """Whoever deletes a run by hand may have it once more."""
        kind, uid = owner_of(event.new)
        if not kind:
            return
        at = meant(kind, event.new.key.name)
        known = self._known.get(uid)
        fairways = self._hub.writer.process is not None
        if event.type == "DELETED" and known is not None and not fairways:
            known.runs.pop(at, None)
        if event.type != "ADDED":
            return
        self.runs["runs_of_fairway" if fairways else "runs_of_the_hub"] += 1
        if fairways:
            self._hub.remember(kind_of(event.new), event.new)
            for text in self._wrong(event.new, known, at):
                self._breach("run", event.new.key.name, text)
        if known is not None:
            known.runs[at] = self._hub.api.clock.now()

    def _wrong(self, run: StoredObject, known: _Schedule | None, at: int) -> list[str]:
        """Of a run that Fairway makes."""
        if known is None:
            return ["it is of no schedule"]
        now = self._hub.api.clock.now()
        asked = T0 + round(self._hub.writer.asked * 1000)
        found = [
            (at in known.runs, f"it was made before, at {known.runs.get(at, 0)}"),
            (all(at % period(spec) for _, spec in known.specs), "it was never meant for then"),
            (at <= known.created, f"its schedule was made at {known.created}, after it was meant"),
            (0 < known.gone <= at, f"its schedule was gone at {known.gone}, before it was meant"),
            (all(spec.get("suspend") for spec in known.between(at, now)), "its schedule is suspended ever since then"),
            (asked > self._latest(known, at) + self._slack, f"it is made at {asked}, which is too late"),
        ]
        texts = [text for wrong, text in found if wrong]
        return texts + [f"{other} is under way, which forbids it" for other in self._forbids(known, run, asked)]

    def _latest(self, known: _Schedule, at: int) -> int:
        deadline = known.spec.get("startingDeadlineSeconds")
        if deadline:
            return at + int(deadline) * 1000
        return at + _MISSED_MS if known.kind.startswith("CronWorkflow") else 2**63

    def _forbids(self, known: _Schedule, run: StoredObject, asked: int) -> list[str]:
        """Other runs that were there when it was looked for them."""
        if known.spec.get("concurrencyPolicy") != FORBID:
            return []
        others = [one for one in self._active(known, owner_of(run)[1]) if one.key != run.key]
        before = asked - self._slack
        return [one.key.name for one in others if known.runs.get(meant(known.kind, one.key.name), asked) < before]

    def _runs(self, known: _Schedule, uid: str) -> list[StoredObject]:
        return [one for one in self._hub.every(RUN_OF[known.kind]) if owner_of(one)[1] == uid and not leaving(one)]

    def _active(self, known: _Schedule, uid: str) -> list[StoredObject]:
        return [one for one in self._runs(known, uid) if self._shows(one) not in OVER]

    def _shows(self, run: StoredObject) -> str:
        return shown(kind_of(run), run.obj.get("status"))

    # The end.

    def _there(self) -> list[tuple[str, _Schedule]]:
        return [(uid, one) for uid, one in self._known.items() if not one.gone]

    async def run_on(self) -> None:
        """Nothing goes wrong any more: every schedule that is to run does."""
        since = self._hub.api.clock.now()
        for uid, known in self._there():
            due = (newest(known.spec, since) + period(known.spec)) / 1000 + _LATE_S
            while not self._ran(uid, known, since):
                if self._hub.api.clock.now() / 1000 > due:
                    self._breach("run", known.name, f"none was made of it since {since}")
                    break
                await asyncio.sleep(_LOOK_S)

    def _ran(self, uid: str, known: _Schedule, since: int) -> bool:
        forbidden = known.spec.get("concurrencyPolicy") == FORBID and self._active(known, uid)
        return bool(known.spec.get("suspend") or forbidden or max(known.runs, default=0) >= since)

    def end(self) -> Found:
        """What each schedule shows, and keeps."""
        for uid, known in self._there():
            (found,) = [one for one in self._hub.every(known.kind) if uid_of(one) == uid]
            listed = (found.obj.get("status") or {}).get("active") or []
            says = sorted(one["name"] for one in listed)
            active = sorted(one.key.name for one in self._active(known, uid))
            if says != active:
                yield "run", known.name, f"its status says that {says} are under way, and {active} are"
            over = [self._shows(one) for one in self._runs(known, uid) if self._shows(one) in OVER]
            well = over.count(SUCCEEDED)
            for count, (field, kept) in zip((well, len(over) - well), _KEPT.items(), strict=True):
                if count > known.spec.get(field, kept):
                    yield "run", known.name, f"{count} runs of it are kept, against its {field}"
