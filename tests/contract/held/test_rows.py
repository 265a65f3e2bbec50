"""What the gateway reads of held objects, from each store."""

import msgspec

from fairway.domain.decision import Step
from fairway.domain.held_object import HeldObject, kept, released
from fairway.gateway.reader import HELD_OBJECTS, Reader
from fairway.runtime.ports import Commit, Store
from fairway.wire.reasons import Code, Reason

WHY = Reason(Code.UNKNOWN_QUEUE, "the hub has no Queue gold")


def held(number: int) -> HeldObject:
    return HeldObject("Job.batch/v1", "team-a", f"j{number}", f"u{number}", 7, WHY, f"j{number}-aaaaaaaaaa")


async def passes(one: HeldObject) -> bool:
    return one.name != "j2"


async def test_they_come_in_pages_and_by_either_id_until_they_are_released(store: Store) -> None:
    rows = Reader(store)
    assert all(await store.commit(Commit(tuple(Step(kept(held(number))) for number in (3, 1, 2, 4)))))
    assert await rows.page(HELD_OBJECTS, "", 2, passes) == ([held(1), held(3)], "u3")
    assert await rows.page(HELD_OBJECTS, "u3", 2, passes) == ([held(4)], "")
    asked = ["u1", "j3-aaaaaaaaaa", "nobody"]
    assert await rows.held(asked) == {"u1": held(1), "j3-aaaaaaaaaa": held(3)}
    assert await store.commit(Commit((Step(released(held(3))),))) == [True]
    assert await rows.held(asked) == {"u1": held(1)}
    assert await rows.page(HELD_OBJECTS, "", 9, passes) == ([held(1), held(4)], "")


async def test_its_row_says_what_has_changed(store: Store) -> None:
    rows = Reader(store)
    later = msgspec.structs.replace(held(1), why=Reason(Code.NO_POLICY, "no policy selects it"))
    for one in (held(1), later):
        assert await store.commit(Commit((Step(kept(one)),))) == [True]
    assert await rows.page(HELD_OBJECTS, "", 9, passes) == ([later], "")
