"""An object that was applied on a real hub, and everywhere one can look at it: kubectl, HTTP and the command line."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from tests.kubernetes.support.fleet import Api, RealFleet, in_namespace, until
from tests.kubernetes.support.tries import Tried, policy
from tests.support.commands import command

Json = dict[str, Any]
T = TypeVar("T")
BINDINGS = "work.karmada.io/v1alpha2/resourcebindings"
QUEUES = "scheduling.x-k8s.io/v1alpha1/queues"
QUEUE = "kube-queue/queue-name"
ENDS_WELL = ("Complete", "Completed", "Succeeded")


class Applied(Tried):
    """`kind` as in KINDS, `plain` as its manifest says it."""

    def __init__(self, fleet: RealFleet, what: Json) -> None:
        meta = what["metadata"]
        volcano = what["apiVersion"].startswith("batch.volcano.sh")
        super().__init__(fleet, "VolcanoJob" if volcano else what["kind"], meta["namespace"], meta["name"])
        self.plain: str = what["kind"]

    # ---- the hub, as kubectl shows it
    @property
    def uid(self) -> str:
        return str(self.on_hub["metadata"]["uid"])

    @property
    def binding(self) -> Json:
        name = f"{self.name}-{self.plain.lower()}"
        return self.fleet.hub.get(in_namespace(BINDINGS, self.namespace, name)) or {}

    def events(self) -> list[Json]:
        """Ours, about this object."""
        query = {"fieldSelector": f"involvedObject.name={self.name}"}
        found = self.fleet.hub.items(f"v1/namespaces/{self.namespace}/events", **query)
        ours = (one for one in found if one["source"].get("component") == "fairway")
        return [one for one in ours if one["involvedObject"]["kind"] == self.plain]

    def told(self) -> list[str]:
        """The reasons of our Events, once for each time that they were told."""
        return [one["reason"] for one in self.events() for _ in range(one.get("count") or 1)]

    def warned(self, reason: str) -> str:
        """What an Event of this reason warns of; empty: there is none."""
        warnings = (one for one in self.events() if (one["type"], one["reason"]) == ("Warning", reason))
        return next((str(one["message"]) for one in warnings), "")

    def change(self, edit: Callable[[Json], None]) -> None:
        """As `kubectl edit` does it."""
        body = self.on_hub
        edit(body)
        answer = self.fleet.hub.http.put(f"/apis/{self.path}", json=body)
        while answer.status_code == 409:  # its status was written meanwhile
            body = self.on_hub
            edit(body)
            answer = self.fleet.hub.http.put(f"/apis/{self.path}", json=body)
        assert answer.is_success, answer.text

    def delete(self) -> None:
        self.fleet.hub.delete(self.path, propagationPolicy="Background")

    # ---- the gateway
    def rows(self) -> list[Json]:
        """As GET /v1/jobs lists it, with every job of its name."""
        query = {"namespace": self.namespace, "kind": self.plain, "name": self.name, "limit": "100"}
        found: list[Json] = self.fleet.asked("", params=query)["items"]
        return found

    def row(self) -> Json:
        """Of a job of the hub; the newest."""
        ours = [one for one in self.rows() if one.get("hub")]
        return max(ours, key=lambda one: one["submitted_at"], default={})

    def asked(self, what: str) -> Json:
        """`why` or `story`."""
        found: Json = self.fleet.asked(f"/{self.row()['id']}/{what}")
        return found

    def verbs(self) -> list[str]:
        """What the record says of it, in order."""
        return [line["what"] for line in self.asked("story")["lines"]] if self.row() else []

    def is_in(self) -> list[str]:
        return self.fleet.where(self.kind, self.namespace, self.name)

    def runs(self, pods: int = 0) -> bool:
        """With so many pods, if that is said."""
        row = self.row()
        if row.get("state") != "running":
            return False
        found = self.fleet.members[row["cluster"]].pods(self.namespace) if pods else []
        return sum(map(_up, found)) == pods

    def lacks(self, code: str) -> bool:
        """It waits, and this is the first reason."""
        row = self.row()
        return row.get("state") in ("queued", "held") and row.get("reason") == code

    def waits(self, code: str) -> Json:
        until(lambda: self.lacks(code), f"{self.name} waits: {code}; it is {self.row()}")
        return self.row()

    def ended_well(self) -> bool:
        return any(is_true(self.on_hub, end) for end in ENDS_WELL)

    def answered(self, status: str, reason: str = "") -> Json:
        """The condition by which a change of the object is answered, as soon as it says so."""

        def look() -> Json:
            found = condition_of(self.binding, "UpToDate")
            right = found.get("status") == status and reason in ("", found.get("reason"))
            return found if right else {}

        return until(look, f"UpToDate={status} {reason} of {self.name}; it has {self.binding.get('status')}")


def _up(pod: Json) -> bool:
    return pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")


def applied(fleet: RealFleet, what: Json, *others: Json) -> Applied:
    """With kubectl, the others first."""
    fleet.hub.apply(*others, what)
    return Applied(fleet, what)


def sent_to(fleet: RealFleet, what: Json, *first_then: str, attempts: int = 3) -> Applied:
    """With a policy of its own, which names these clusters."""
    return applied(fleet, what, policy(what, *first_then, attempts=attempts))


def fairway(fleet: RealFleet, *words: str, code: int = 0) -> str:
    """What the command prints."""
    known = {name: str(value) for name, value in fleet.facts.items() if name.startswith("FAIRWAY")}
    known |= {"FAIRWAY_URL": fleet.url, "FAIRWAY_TOKEN_FILE": str(fleet.dir / "admin.token")}
    done = command(*words, folder=None, **known)
    assert done.exit_code == code, f"fairway {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def printed(fleet: RealFleet, *words: str) -> Any:
    """What the command prints for programs."""
    return json.loads(fairway(fleet, *words, "-o", "json"))


def condition_of(manifest: Json | None, kind: str) -> Json:
    found = ((manifest or {}).get("status") or {}).get("conditions") or ()
    return next((one for one in found if one["type"] == kind), {})


def is_true(manifest: Json | None, kind: str) -> bool:
    return bool(condition_of(manifest, kind).get("status") == "True")


def all_of(ones: Mapping[str, T], look: Callable[[T], object], what: str, seconds: float = 60) -> None:
    """Until it was true of each; fails with the names of the others."""
    left = dict(ones)

    def none_left() -> bool:
        for name in [name for name, one in left.items() if look(one)]:
            del left[name]
        return not left

    try:
        until(none_left, what, seconds)
    except AssertionError:
        raise AssertionError(f"not within {seconds:.0f} s: {what}; not yet: {', '.join(left)}") from None


@contextmanager
def queues(hub: Api, tenant: str, **policies: str) -> Iterator[list[str]]:
    """Queues that are open to this tenant, by what they are called here and their policy; their names on the hub."""
    names = [f"{tenant}-{name}"[-63:].strip("-") for name in policies]
    path = in_namespace(QUEUES, "kube-queue")
    for name, how in zip(names, policies.values(), strict=True):
        meta = {"name": name, "annotations": {"fairway.io/allow-namespaces": tenant}}
        body = {
            "apiVersion": QUEUES.rpartition("/")[0],
            "kind": "Queue",
            "metadata": meta,
            "spec": {"queuePolicy": how},
        }
        hub.create(path, body)
    try:
        yield names
    finally:
        for name in names:
            hub.delete(f"{path}/{name}")
