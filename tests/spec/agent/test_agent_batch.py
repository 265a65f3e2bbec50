"""Batch resources are told only of a member that converts the pods of copies: elsewhere they would take others'."""

from typing import Any

import pytest

from fairway.agent.batch_profile import converts
from fairway.agent.report import Seen
from fairway.domain.resources import BATCH_CPU
from fairway.runtime.cluster_port import ClusterRefused

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "8", BATCH_CPU: "4000", "pods": "110"}},
}


class Profiles:
    """A cluster of which only its profile is asked; None: it may not be read."""

    def __init__(self, there: bool | None) -> None:
        self.there = there

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        if self.there is None:
            raise ClusterRefused("Forbidden", f"{kind} {name} is forbidden")
        return {} if self.there else None


@pytest.mark.parametrize(("there", "want"), [(True, True), (False, False), (None, False)])
async def test_a_profile_that_is_not_there_or_not_to_be_read_converts_nothing(there: bool | None, want: bool) -> None:
    assert await converts(Profiles(there)) == want  # type: ignore[arg-type]  # asks for the profile only


def test_they_are_told_as_soon_as_the_profile_is_there_and_no_longer_when_it_is_gone() -> None:
    seen = Seen()
    seen.node("n1", NODE)
    (row,), _ = seen.take(False)
    assert row.allocatable == {"cpu": 8_000, "pods": 110}
    seen.tell_batch(True)
    (row,), _ = seen.take(False)
    assert row.allocatable[BATCH_CPU] == 4_000
    seen.tell_batch(True)
    assert seen.take(False) == ((), ())
    seen.tell_batch(False)
    (row,), _ = seen.take(False)
    assert BATCH_CPU not in row.allocatable
