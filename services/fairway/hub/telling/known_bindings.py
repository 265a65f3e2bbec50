"""The hub's ResourceBindings: which are there and what they say, so that nothing is written twice. A part of the
memory."""

from collections.abc import Container

from msgspec import Struct

from fairway.hub.messages import BindingSeen
from fairway.hub.telling.bindings import Binding, Condition, Stamps, manifest_of, name_of
from fairway.workloads.hub.objects import HubObject, Json


class Written(Struct, frozen=True):
    """A binding that is there: whose it is, what it says, since when; what of its owner's last change."""

    owner: str
    digest: str
    stamps: Stamps
    change: Condition | None = None


class KnownBindings:
    """`served`: the hub has the kind; without it nothing is written. Until it was `asked` nobody is told anything:
    words are acknowledged when the binding has them, too. `there` are those that it has."""

    def __init__(self) -> None:
        self.there: dict[tuple[str, str], Written] = {}
        self.served = False
        self.asked = False

    def see(self, one: BindingSeen) -> None:
        self.there[one.namespace, one.name] = Written(one.owner, one.digest, one.stamps, one.change)

    def new(self, one: Binding, present: Container[str]) -> bool:
        """Whether it has anything new to say. Of two present objects whose bindings have one name (kinds of the same
        name in two groups) the first keeps it."""
        before = self.there.get((one.namespace, one.name))
        if not self.served or before is None:
            return self.served
        return before.digest != one.digest if before.owner == one.owner else before.owner not in present

    def manifest(self, one: Binding, now: int) -> tuple[Json, bool]:
        """The object as it has to be written, and whether one of its name is there."""
        before = self.there.get((one.namespace, one.name))
        stamps = before.stamps if before is not None and before.owner == one.owner else {}
        return manifest_of(one, stamps, now)[0], before is not None

    def of(self, one: HubObject) -> Written | None:
        there = self.there.get((one.namespace, name_of(one)))
        return there if there is not None and there.owner == one.uid else None
