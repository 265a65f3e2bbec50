"""The record and the store as the hub service finds them, in dictionaries, and what admission makes of what it says."""

import itertools
from typing import Any

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Put, Say, Step
from fairway.domain.events import another_id, name_key
from fairway.domain.job import Job
from fairway.domain.submission import digest_of
from fairway.domain.tenancy.submission_limits import pending
from fairway.runtime.ports import ReadRows, Row, Wanted
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.policy import Placement
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import Life

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_job = msgspec.json.Decoder(Job).decode


class ScriptedRecord:
    """`said` has what the service said, by the ids of the messages: what is said twice is there once."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self.said: dict[str, Say] = {}
        self._places: dict[int, Json] = {}
        self._sequence = itertools.count(1)
        self.lives: dict[str, Life] = {}

    def read(self, wanted: Wanted) -> ReadRows:
        rows = {(table, key): self.rows[table, key] for table, key in _named(wanted) if (table, key) in self.rows}
        whole = {
            table: {key: row for (of, key), row in self.rows.items() if of == table}
            for table in wanted.whole
            if table != decision.PENDING
        }
        counters = {decision.PENDING: self._pending()} if decision.PENDING in wanted.whole else {}
        return ReadRows(rows, whole, counters)

    def _pending(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for (table, _), row in self.rows.items():
            if table == decision.JOBS and pending(job := _job(row.data)):
                counts[job.tenant] = counts.get(job.tenant, 0) + 1
        return counts

    def commit(self, step: Step) -> list[Say]:
        """Returns what is new of what it says."""
        for write in step.writes:
            assert isinstance(write, Put)
            assert write.expect is None, "a guard that this store does not know"
            self._put(write.table, write.key, write.value, write.rev)
        new = [say for say in step.events if say.id not in self.said]
        for say in new:
            self.said[say.id] = say
            if isinstance(say.message, wire.Submitted | wire.Revise):
                self._places[next(self._sequence)] = msgspec.json.decode(say.message.manifest)
        return new

    def _put(self, table: str, key: str, value: object, rev: int = 1) -> None:
        if value is None:
            self.rows.pop((table, key), None)
        else:
            self.rows[table, key] = Row(rev, _encode(value))

    def manifest(self, sequence: int) -> Json | None:
        return self._places.get(sequence)

    def of(self, kind: type[Any]) -> list[Any]:
        return [say.message for say in self.said.values() if isinstance(say.message, kind)]

    def catalog(self) -> Catalog:
        """What a process that begins now reads."""
        made = Catalog()
        for message in self.of(fleet.Configured):
            made.take(message)
        return made

    def complaints(self) -> tuple[tuple[str, str, str], ...]:
        newest = {(one.kind, one.namespace, one.name): one for one in self.of(fleet.ConfigRefused)}
        return tuple(key for key, one in newest.items() if one.reasons)

    def ref(self, message: wire.Manifested) -> wire.ManifestRef:
        manifest = msgspec.json.decode(message.manifest)
        sequence = max(place for place, one in self._places.items() if one == manifest)
        return wire.ManifestRef(sequence, digest_of(message), len(message.manifest))

    def spec(self, message: wire.Manifested, attempts: int = 3) -> wire.JobSpec:
        manifest = msgspec.json.decode(message.manifest)
        meta = manifest["metadata"]
        place = (manifest["apiVersion"], manifest["kind"], meta["namespace"], meta["name"])
        work = Workload(*place, (PodSet("pod", 1, {}),), 1)
        return wire.JobSpec(
            workload=work,
            policy="p",
            placement=Placement(),
            manifest=self.ref(message),
            hub=message.hub,
            attempts=attempts,
        )

    def admitted(self, message: wire.Submitted, attempts: int = 3) -> Life:
        """The rows that admission writes."""
        life = Life(self._name(message))
        life.at = message.at
        spec = self.spec(message, attempts)
        life.then(wire.Admitted, after=0, tenant=message.tenant, attempt=1, spec=spec)
        self.lives[life.name] = life
        self._put(decision.CLIENTS, f"{message.tenant}/{message.client}", (life.name, digest_of(message)))
        work = spec.workload
        self._put(decision.NAMES, name_key(work.namespace, work.kind, work.name), message.job)
        self.follow(life)
        return life

    def refused(self, message: wire.Submitted, life: Life) -> None:
        self.lives[message.job] = life
        self.follow(life)

    def _name(self, message: wire.Submitted) -> str:
        """Its own, or another one where a job that was refused has that."""
        if (decision.JOBS, message.job) not in self.rows:
            return message.job
        name = next(name for name, say in self.said.items() if say.message is message)
        return another_id(message.job, name, digest_of(message))

    def takes_name(self, life: Life) -> None:
        """A job of another door has this name."""
        assert life.now.spec is not None
        work = life.now.spec.workload
        self._put(decision.NAMES, name_key(work.namespace, work.kind, work.name), life.now.id)
        self.follow(life)

    def follow(self, life: Life) -> None:
        """The job's rows are what was said of it."""
        job = life.now
        self._put(decision.JOBS, job.id, job, job.rev)
        self._put(decision.LIVE, job.id, None if job.ended else "")


def _named(wanted: Wanted) -> list[tuple[str, str]]:
    return [(table, key) for table, keys in wanted.rows.items() for key in keys]
