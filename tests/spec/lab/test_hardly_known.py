"""How much of what a fleet decided may be unknown when it is decided again, and what is said when it is more."""

import pytest

from fairway.lab.fleet.decided_again import hardly_known
from fairway.operate.replay.report import DecisionReport, Difference, StageReport, Unknown
from fairway.wire.reasons import Code, Reason

OTHER = Difference("job-a", 1, {"cluster": ("c1", "c2")})


def stage(identical: int, unknown: int, different: int = 0) -> StageReport:
    late = Unknown("job-a", 1, "placed", Reason(Code.VIEW_NOT_STORED, "it was never stored"))
    return StageReport(identical, different=[OTHER] * different, unknown=[late] * unknown)


FOUND: dict[str, tuple[dict[str, StageReport], list[str]]] = {
    "nothing was decided": ({"queue": stage(0, 0)}, []),
    "all is known, if not the same": ({"queue": stage(0, 0, different=3)}, []),
    "a tenth is not": ({"quota": stage(50, 0), "queue": stage(40, 10)}, []),
    "more than a tenth is not": (
        {"admission": stage(9, 0), "quota": stage(50, 2), "queue": stage(40, 10)},
        ["quota cannot decide 2 of 52 again", "queue cannot decide 10 of 50 again"],
    ),
    "half of a stage is not": ({"quota": stage(99, 0), "queue": stage(2, 2)}, []),
    "most of a stage is not": (
        {"quota": stage(99, 1), "queue": stage(1, 3, different=1)},
        ["queue cannot decide 3 of 5 again"],
    ),
    "nothing is known": ({"queue": stage(0, 7)}, ["queue cannot decide 7 of 7 again"]),
}


@pytest.mark.parametrize(("stages", "told"), FOUND.values(), ids=list(FOUND))
def test_of_few_unknown_decisions_nothing_is_said_and_of_many_how_many_of_each_stage(
    stages: dict[str, StageReport], told: list[str]
) -> None:
    assert hardly_known(DecisionReport(stages)) == told
