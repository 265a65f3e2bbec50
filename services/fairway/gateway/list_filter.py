"""What of the list of jobs is wanted, by the parameters of the request. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.held_object import STATE, HeldObject
from fairway.domain.job import ENDED, Job, State
from fairway.gateway.http.problem import Problem

_STATES = (STATE, *(one.value for one in State))


class ListFilter(Struct, frozen=True):
    """What is empty chooses nothing out."""

    states: frozenset[str] = frozenset()
    namespace: str = ""
    kind: str = ""
    name: str = ""

    @property
    def live(self) -> bool:
        """Only what has not ended."""
        return bool(self.states) and self.states.isdisjoint(ENDED)

    @property
    def jobs(self) -> bool:
        return self.states != {STATE}

    @property
    def held(self) -> bool:
        return not self.states or STATE in self.states

    def takes(self, one: Job | HeldObject) -> bool:
        if isinstance(one, HeldObject):
            return self._all(STATE, one.namespace, one.plain, one.name)
        work = one.spec.workload if one.spec else one
        return self._all(one.state.value, one.tenant, work.kind, work.name)

    def _all(self, state: str, namespace: str, kind: str, name: str) -> bool:
        return (
            (not self.states or state in self.states)
            and self.namespace in ("", namespace)
            and self.kind in ("", kind)
            and self.name in ("", name)
        )


def list_filter(query: Mapping[str, str]) -> ListFilter:
    """Raises a Problem."""
    states = _states(query.get("state", ""))
    return ListFilter(states, query.get("namespace", ""), query.get("kind", ""), query.get("name", ""))


def _states(text: str) -> frozenset[str]:
    states = frozenset(filter(None, text.split(",")))
    if "live" in states:
        states = states - {"live"} | {one for one in _STATES if one not in ENDED}
    unknown = sorted(states.difference(_STATES))
    if unknown:
        known = ", ".join(sorted(_STATES))
        raise Problem(400, f"state {unknown[0][:40]!r} is not known", f"use live, or some of {known}")
    return states
