"""Who has to go in the cases of Kueue's tables: the same as there, or others for a reason that is written down."""

import pytest

from tests.spec.kueue import deep, fair, hierarchical, ordering, shared, standalone
from tests.spec.kueue.decided import Case, decided
from tests.spec.kueue.differences import DIFFERENCES, Difference

_TABLES = (standalone, shared, fair, deep, hierarchical, ordering)
CASES: dict[str, Case] = {name: case for table in _TABLES for name, case in table.CASES.items()}
SAME = {name: case for name, case in CASES.items() if name not in DIFFERENCES}
FLEETS = pytest.mark.parametrize("spacious", [True, False], ids=["quota is short", "room is short, too"])


@FLEETS
@pytest.mark.parametrize("case", SAME.values(), ids=list(SAME))
def test_the_same_have_to_go(case: Case, spacious: bool) -> None:
    assert decided(case, spacious) == set(case.victims.split())


@FLEETS
@pytest.mark.parametrize(("name", "here"), DIFFERENCES.items(), ids=list(DIFFERENCES))
def test_others_have_to_go(name: str, here: Difference, spacious: bool) -> None:
    assert here.victims != CASES[name].victims
    assert decided(CASES[name], spacious) == set(here.victims.split()), here.why
