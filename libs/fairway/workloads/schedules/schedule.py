"""What a schedule is, whatever its kind: when it makes a run, what the run is, and what it shows of that. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from msgspec import Struct

from fairway.workloads.reading.fields import Field, read_root
from fairway.workloads.reading.names import read_name
from fairway.workloads.schedules.timetable import Timetable, read_timetable, read_zone

Json = dict[str, Any]
ALLOW = "Allow"
FORBID = "Forbid"
REPLACE = "Replace"
# Runs that a status names, and that nobody has seen: no more of them are asked for.
_MOST_ACTIVE = 20


class Schedule(Struct, frozen=True):
    """Times are in milliseconds since 1970. `since` is when the last run was meant, or the object was made; `deadline`
    how late a run may begin (None: however late). Of a run that could not begin in time one `catches_up`, or none. What
    another run forbids `waits` for the end of that one, or is left out. `keep` are how many runs stay that went well,
    and badly. `same_names`: the kind's own controller gives a run the name that Fairway gives it."""

    times: tuple[Timetable, ...]
    since: int
    suspended: bool = False
    concurrency: str = ALLOW
    deadline: int | None = None
    catches_up: bool = True
    waits: bool = True
    keep: tuple[int, int] = (3, 1)
    same_names: bool = True

    def next(self, after: int) -> int | None:
        """When it runs first behind `after`."""
        found = [at for one in self.times if (at := one.next(after, self.since)) is not None]
        return min(found, default=None)

    def newest(self, after: int, until: int) -> int | None:
        """When it was to run last, behind `after` and not behind `until`."""
        found = [at for one in self.times if (at := one.newest(after, until, self.since)) is not None]
        return max(found, default=None)


class Run(Struct, frozen=True):
    """A job that a schedule has made, as far as the schedule cares."""

    name: str
    uid: str
    created: str
    ended: bool = False
    well: bool = False


class ScheduleKind:
    """How a kind of schedule is read, and what it makes: objects of the kind `run`, `Kind.group/version`. `part` is
    the subresource that has its status (empty: the object itself), and `last` the field there that says when it ran
    last. `zone` and `history` are fields of its spec: of runs that went well, and badly, as many as `keep` stay where
    it does not say. Its name is at most `most_name` long, for a run's name is that and when it was meant."""

    key: ClassVar[str]
    run: ClassVar[str]
    last: ClassVar[str]
    part: ClassVar[str] = "status"
    zone: ClassVar[str] = "timeZone"
    history: ClassVar[tuple[str, str]] = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    keep: ClassVar[tuple[int, int]] = (3, 1)
    most_name: ClassVar[int] = 52

    def read(self, manifest: Json) -> Schedule:
        """Raises Refused with every reason found."""
        kind, _, version = self.key.partition(".")
        root = read_root(manifest, version, kind)
        metadata = root["metadata"]
        spec = root["spec"]
        read_name(metadata["name"], self.most_name)
        zone = read_zone(spec[self.zone])
        deadline = spec["startingDeadlineSeconds"]
        good, bad = (spec[name].whole(most) for name, most in zip(self.history, self.keep, strict=True))
        found = Schedule(
            times=tuple(read_timetable(one, zone) for one in self.schedules(spec)),
            # When the last run was meant; without any, when the object was made.
            since=millis(root["status"][self.last].text()) or millis(metadata["creationTimestamp"].text()),
            suspended=spec["suspend"].flag(),
            concurrency=spec["concurrencyPolicy"].choice(ALLOW, FORBID, REPLACE, "") or ALLOW,
            deadline=deadline.whole(0) * 1000 if deadline.given else None,
            keep=(good, bad),
        )
        self.check(spec)
        root.problems.stop()
        return found

    def schedules(self, spec: Field) -> list[Field]:
        """Where it says when it runs."""
        return [spec["schedule"]]

    def check(self, spec: Field) -> None:
        """Notes what of the rest no run could be made of."""
        raise NotImplementedError

    def run_of(self, manifest: Json, at: int) -> Json:
        """The object of the run that was meant for `at`: named as the kind's own controller names it."""
        raise NotImplementedError

    def status(self, runs: Sequence[Run], namespace: str) -> Json:
        """What its status says of these runs, as a merge patch: those that are under way."""
        return {"active": self._active(runs, namespace)}

    def made(self, name: str, at: int, following: int | None) -> Json:
        """What its status says when the run of that name was made, that was meant for `at`; the next one is meant for
        `following`."""
        return {self.last: stamp(at)}

    def active_names(self, manifest: Json) -> list[str]:
        """Of the runs that are under way, by its status."""
        status = manifest.get("status")
        active = status.get("active") if isinstance(status, dict) else None
        names = (one.get("name") for one in active if isinstance(one, dict)) if isinstance(active, list) else ()
        return [name for name in names if isinstance(name, str)][:_MOST_ACTIVE]

    def _active(self, runs: Sequence[Run], namespace: str) -> list[Json]:
        kind, _, version = self.run.partition(".")
        head = {"apiVersion": version, "kind": kind, "namespace": namespace}
        return [{**head, "name": one.name, "uid": one.uid} for one in runs if not one.ended]

    def _object(self, manifest: Json, suffix: int, meta: Json, spec: Any) -> Json:
        """One that the schedule owns."""
        kind, _, version = self.run.partition(".")
        its = manifest["metadata"]
        owner = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "name": its["name"]}
        owner |= {"uid": its["uid"], "controller": True, "blockOwnerDeletion": True}
        kept = {key: value for key, value in meta.items() if key in ("labels", "annotations") and value}
        name = {"name": f"{its['name']}-{suffix}", "namespace": its["namespace"]}
        return {
            "apiVersion": version,
            "kind": kind,
            "metadata": {**kept, **name, "ownerReferences": [owner]},
            "spec": spec,
        }


def unlike(shown: Any, wanted: Json) -> bool:
    """Whether a status says something else of its runs. A controller adds versions to its references."""
    known = shown if isinstance(shown, dict) else {}
    return any(_essence(known.get(name)) != _essence(value) for name, value in wanted.items())


def _essence(value: Any) -> Any:
    if not isinstance(value, list):
        return value or None
    return sorted(str(one.get("uid")) if isinstance(one, dict) else str(one) for one in value) or None


def millis(text: str) -> int:
    """0 for what is no time."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def stamp(at: int) -> str:
    """As an API server writes a time."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_marks(metadata: Field) -> None:
    """Labels and annotations that runs are to have."""
    for name in ("labels", "annotations"):
        metadata[name].strings()


def check_given(place: Field) -> None:
    """What runs are made of."""
    if not place.mapping():
        place.wrong("is missing: there is nothing to run", "write what its runs are to do")
