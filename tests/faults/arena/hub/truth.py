"""What the hub shows in the end, compared with what its people did and with what the record says."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fairway.domain.events import message_id
from fairway.lab.kubereal.members import HUB
from fairway.wire import jobs as wire
from tests.faults.arena.arena import Arena
from tests.faults.arena.hub.people import TENANT, WISH, HubPeople

Json = dict[str, Any]
STATUSES = "jobs.batch"
EVENTS = "events"
BINDINGS = "resourcebindings.work.karmada.io"
POLICIES = "propagationpolicies.policy.karmada.io"
_CONDITIONS = ("Queuing", "Scheduled", "FullyApplied")
_ENDED_WELL = (False, True, True)
# A service that begins anew does not know which reasons to wait it has told; who changes something is answered.
_AGAIN = wire.Blocked | wire.Queue | wire.Amended | wire.Unchanged


class HubTruth:
    """Listens to the record. `submissions` are the messages that submitted an object, by its uid, `jobs` the jobs that
    stand for it, and `wishes` what was handed on of it last."""

    def __init__(self, arena: Arena, people: HubPeople) -> None:
        self._store = arena.kube.clusters[HUB].api.store
        self._people = people
        self.submissions: dict[str, set[str]] = {}
        self.jobs: dict[str, set[str]] = {}
        self.wishes: dict[str, str] = {}
        self._clusters: dict[str, str] = {}
        self._running: set[str] = set()
        self._ended: set[str] = set()
        self._causes: dict[str, wire.JobMessage] = {}

    def hear(self, id: str, message: wire.JobMessage) -> None:
        self._causes[message_id("note", id)] = message
        match message:
            case wire.Submitted(hub=wire.HubRef(uid=uid), manifest=manifest):
                self.submissions.setdefault(uid, set()).add(id)
                self.wishes[uid] = bytes(manifest).decode()
            case wire.Revise(hub=wire.HubRef(uid=uid), manifest=manifest):
                self.wishes[uid] = bytes(manifest).decode()
            case wire.Admitted(spec=wire.JobSpec(hub=wire.HubRef(uid=uid))):
                self.jobs.setdefault(uid, set()).add(message.job)
            case wire.Running():
                self._running.add(message.job)
            case wire.Succeeded():
                self._ended.add(message.job)
                self._clusters[message.job] = message.cluster
            case wire.Cancelled():
                self._ended.add(message.job)

    def run(self, names: list[str]) -> bool:
        """Whether the jobs of these objects run."""
        jobs = {job for name in names for job in self.jobs.get(self._people.applied[name], ())}
        return len(jobs) == len(names) and jobs <= self._running

    def wrong(self) -> list[str]:
        """Sentences on what is not so, or not yet."""
        return [*self._objects(), *self._gone(), *self._told_twice(), *self._settings()]

    def _objects(self) -> Iterator[str]:
        shown = {one.obj["metadata"]["uid"]: one.obj for one in self._store.all(STATUSES)}
        bound = {_owner(one.obj): one.obj for one in self._store.all(BINDINGS)}
        told = {(one.obj["involvedObject"].get("uid"), one.obj["reason"]) for one in self._store.all(EVENTS)}
        for name, uid in self._people.applied.items():
            jobs = self.jobs.get(uid, set())
            if len(jobs) != 1 or len(self.submissions.get(uid, ())) != 1:
                yield f"{name} is {sorted(jobs)}, submitted {len(self.submissions.get(uid, ()))} times"
                continue
            (job,) = jobs
            if job not in self._clusters:
                yield f"{name} has not succeeded"
            elif not _complete(shown[uid].get("status") or {}):
                yield f"{name} succeeded, and shows {shown[uid].get('status')}"
            elif (uid, "Succeeded") not in told:
                yield f"{name} succeeded, and no Event says so"
            if text := _misbound(bound.get(uid), shown[uid], self._clusters.get(job, "")):
                yield f"the binding of {name} {text}"
            if (wish := self._people.wishes.get(uid)) and f'"{WISH}":"{wish}"' not in self.wishes[uid]:
                yield f"that {name} was changed to {wish} was never handed on"

    def _gone(self) -> Iterator[str]:
        for uid in self._people.deleted:
            if len(self.jobs.get(uid, ())) > 1 or len(self.submissions.get(uid, ())) > 1:
                yield f"{uid}, which was deleted, was {self.jobs[uid]}"
            if left := self.jobs.get(uid, set()) - self._ended:
                yield f"{left} was deleted, and has no end"
        for one in self._store.all(BINDINGS):
            if _owner(one.obj) not in self._people.applied.values():
                yield f"the binding {one.key.name} belongs to nobody"

    def _told_twice(self) -> Iterator[str]:
        """Of one attempt each thing is told once."""
        told = Counter[tuple[str, ...]]()
        for one in self._store.all(EVENTS):
            cause = self._causes.get(one.key.name.rpartition(".")[2])
            if cause is not None and not isinstance(cause, _AGAIN):
                told[cause.job, str(cause.attempt), one.obj["reason"]] += 1
        yield from (f"{' '.join(key)} is told {times} times" for key, times in told.items() if times > 1)

    def _settings(self) -> Iterator[str]:
        """What was refused says so in its condition, and in one Event."""
        for one in self._store.shelf(POLICIES, TENANT):
            name = one.key.name
            refused = name.startswith("bad")
            listed = (one.obj.get("status") or {}).get("conditions") or ()
            ready = [each["status"] for each in listed if each["type"] == "Ready"]
            told = [each for each in self._store.all(EVENTS) if each.obj["involvedObject"]["name"] == name]
            if refused and (ready != ["False"] or len(told) != 1):
                yield f"{name} is refused: its condition is {ready}, and {len(told)} Events say so"


def _owner(binding: Json) -> str:
    return str(binding["metadata"]["ownerReferences"][0]["uid"])


def _complete(status: Json) -> bool:
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    return status.get("succeeded") == 1 and "Complete" in true and "Failed" not in true


def _misbound(binding: Json | None, shown: Json, cluster: str) -> str:
    if binding is None:
        return "is not there"
    listed = {one["type"]: one["status"] == "True" for one in binding["status"]["conditions"]}
    if tuple(listed[name] for name in _CONDITIONS) != _ENDED_WELL:
        return f"says {listed}"
    if [one["name"] for one in binding["spec"]["clusters"]] != [cluster]:
        return f"says {binding['spec']['clusters']}, and it ran in {cluster}"
    members = [one.get("status") for one in binding["status"]["aggregatedStatus"]]
    return "" if members == [shown.get("status")] else f"says {members}, and its object {shown.get('status')}"
