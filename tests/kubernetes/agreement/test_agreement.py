"""What Fairway's placement says fits, the real kube-scheduler, Volcano and Koordinator place.

Random nodes with others' pods on them, read by the agent's own code, and a random gang. If it fits, each of its pods is
placed on the node that was planned for it, as with room that is held there; equal pods are placed without that, too. If
equal pods do not fit, no more of them are placed than were said to.
"""

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from tests.kubernetes.agreement.cluster import Outcome, SchedulersCluster, schedulers_cluster
from tests.kubernetes.agreement.disagreements import disagreements, figures
from tests.kubernetes.agreement.drawing import drawn
from tests.kubernetes.agreement.manifests import SCHEDULERS

pytestmark = pytest.mark.asyncio(loop_scope="module")

_SEED = 24
_MORE_SEEDS = range(100, 110)
_CASES = 50


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def schedulers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SchedulersCluster]:
    async with schedulers_cluster(tmp_path_factory.mktemp("agreement")) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def outcomes(schedulers: SchedulersCluster) -> list[Outcome]:
    """Of all schedulers, side by side."""
    return await schedulers.run([drawn(_SEED, number) for number in range(_CASES)])


@pytest.mark.parametrize("scheduler", SCHEDULERS)
async def test_what_is_said_to_fit_is_placed(outcomes: list[Outcome], scheduler: str) -> None:
    _agree([one for one in outcomes if one.place.scheduler == scheduler])


@pytest.mark.slow
async def test_what_is_said_to_fit_of_hundreds_of_gangs_is_placed(schedulers: SchedulersCluster) -> None:
    found: list[Outcome] = []
    for seed in _MORE_SEEDS:
        found += await schedulers.run([drawn(seed, number) for number in range(_CASES)])
    assert len(found) == len(_MORE_SEEDS) * _CASES * len(SCHEDULERS)
    _agree(found)


def _agree(outcomes: Sequence[Outcome]) -> None:
    """About half of the gangs fit: a test of which all fit, or none, would show little. Of those that a scheduler
    places few are said not to."""
    print(figures(outcomes))
    wrong = disagreements(outcomes)
    assert not wrong, "\n".join(wrong)
    fitting = [one for one in outcomes if one.said.fits]
    placed = [one for one in outcomes if one.free is not None and one.free.bound == one.place.case.pods]
    assert sum(not one.said.fits for one in placed) <= len(placed) / 20
    assert 0.4 <= len(fitting) / len(outcomes) <= 0.7
    assert sum(one.said.shapes > 1 for one in fitting) >= len(fitting) / 5
