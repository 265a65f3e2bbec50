"""The objects of the hub in which parts of jobs stand, such as WorkflowTemplates, and which jobs' objects refer to
them. A part of the memory."""

from collections.abc import Iterable

from msgspec import Struct, structs

from fairway.hub.intake.known_gangs import KnownGangs
from fairway.wire.reasons import Reason
from fairway.wire.spec import Template
from fairway.workloads.gangs.found_gang import POD
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.references import Reference, Referenced, WrittenOut


class WrittenObject(Struct, frozen=True):
    """A job's object with what it refers to copied into it, and which objects that was; or what is `wrong`, and the
    object as it is."""

    one: HubObject
    templates: tuple[Template, ...] = ()
    wrong: tuple[Reason, ...] = ()


class KnownTemplates:
    """`there` are those that the hub has, `places` which message told of each last; `gangs` are those of pods, which
    refer to each other. `uses` has what each object of a job refers to, there or not, by its uid, and `users` the same
    the other way round."""

    def __init__(self) -> None:
        self.gangs = KnownGangs()
        self.there: dict[Reference, Referenced] = {}
        self.places: dict[Reference, int] = {}
        self.uses: dict[str, tuple[Reference, ...]] = {}
        self.users: dict[Reference, set[str]] = {}
        self._last: tuple[HubObject, WrittenOut] | None = None

    def see(self, one: Referenced, place: int, gone: bool) -> None:
        if place < self.places.get(one.reference, 0):
            return
        self.places[one.reference] = place
        self._last = None
        if gone:
            self.there.pop(one.reference, None)
        else:
            self.there[one.reference] = one

    def written(self, one: HubObject) -> WrittenObject:
        if not one.refers:
            return WrittenObject(one)
        made = self._made(one)
        if made.wrong:
            return WrittenObject(one, (), made.wrong)
        return WrittenObject(structs.replace(one, manifest=made.manifest), self._copied(one.uid, made.used))

    def _copied(self, uid: str, used: Iterable[Reference]) -> tuple[Template, ...]:
        found = filter(None, map(self._find, used))
        return tuple(one for each in found for one in each.templates if one.uid != uid)

    def _find(self, reference: Reference) -> Referenced | None:
        return self.gangs.get(reference) if reference.kind == POD else self.there.get(reference)

    def see_pod(self, one: HubObject, counts: bool) -> tuple[Reference, ...]:
        """A pod as it is now, which `counts` as one that is to start. Returns the gangs that are others by that."""
        changed = self.gangs.see(one, counts)
        if changed:
            self._last = None
        return changed

    def _made(self, one: HubObject) -> WrittenOut:
        """An object is asked about several times in a row."""
        if self._last is None or self._last[0] is not one:
            self._last = (one, KINDS[one.kind].written_out(one.manifest, self._find))
        return self._last[1]

    def note(self, one: HubObject) -> None:
        """What an object refers to now."""
        used = self._made(one).used if one.refers else ()
        if used != self.uses.get(one.uid, ()):
            self.forget(one.uid)
            self.take(one.uid, used)

    def take(self, uid: str, used: Iterable[Reference]) -> None:
        self.uses[uid] = tuple(used)
        for reference in self.uses[uid]:
            self.users.setdefault(reference, set()).add(uid)

    def forget(self, uid: str) -> None:
        for reference in self.uses.pop(uid, ()):
            self.users[reference].discard(uid)
            if not self.users[reference]:
                del self.users[reference]

    def others(self, uid: str, templates: tuple[Template, ...]) -> bool:
        """Whether an object would be written out otherwise by now than with these."""
        now = self._copied(uid, self.uses.get(uid, ()))
        return {_which(one) for one in templates} != {_which(one) for one in now}


def _which(one: Template) -> tuple[str, str, str, str]:
    return one.kind, one.namespace, one.name, one.digest
