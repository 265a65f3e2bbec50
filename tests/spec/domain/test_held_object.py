"""The rows of an object that is held: by its uid, and by the job that will stand for it."""

import msgspec
import pytest

from fairway.domain.decision import HELD, HELD_JOBS
from fairway.domain.held_object import HeldObject, kept, released
from fairway.wire.reasons import Code, Reason

WHY = Reason(Code.NO_POLICY, "no PropagationPolicy selects Job team-a/train")
ONE = HeldObject("Job.batch/v1", "team-a", "train", "u-1", 7, WHY, "train-aaaaaaaaaa")


@pytest.mark.parametrize(
    ("one", "want"),
    [
        pytest.param(ONE, {(HELD, "u-1"), (HELD_JOBS, "train-aaaaaaaaaa")}, id="its job's id is known"),
        pytest.param(msgspec.structs.replace(ONE, job=""), {(HELD, "u-1")}, id="its job's id is not known"),
    ],
)
def test_every_row_that_is_kept_is_released(one: HeldObject, want: set[tuple[str, str]]) -> None:
    assert {(put.table, put.key) for put in kept(one)} == want
    assert {(put.table, put.key) for put in released(one) if put.value is None} == want


def test_it_is_asked_for_by_the_id_that_its_job_will_have() -> None:
    assert (ONE.id, msgspec.structs.replace(ONE, job="").id, ONE.plain) == ("train-aaaaaaaaaa", "u-1", "Job")
