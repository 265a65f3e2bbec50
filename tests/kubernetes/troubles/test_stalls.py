"""Watches through which nothing comes any more, while their connections stand and everything else works."""

from collections.abc import Callable

import pytest

from tests.kubernetes.support.fleet import until
from tests.kubernetes.troubles.meddler import Meddler
from tests.kubernetes.troubles.troubled import SILENCE_S, Troubled

# Silence is trusted for so long, and then everything is listed. The rest is for a busy machine.
BOUND_S = SILENCE_S + 40


def looks_at_jobs(request: str) -> bool:
    """Whether it lists jobs, or begins to watch them: of who hears what ends there is no such request."""
    method, _, path = request.partition(" ")
    return method == "GET" and path.partition("?")[0].endswith("/batch/v1/jobs")


def stall(meddler: Meddler) -> None:
    meddler.stall()


def hold_back(meddler: Meddler) -> None:
    meddler.stalled = True


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(stall, id="those that are open stall"),
        pytest.param(hold_back, id="none tells anything: a list has to do"),
    ],
)
def test_a_job_that_ends_behind_a_stalled_watch_is_noticed_once_its_silence_is_not_trusted(
    fleet: Troubled, tenant: str, spoil: Callable[[Meddler], None]
) -> None:
    fleet.submit(tenant, "unseen", ["near"], run_for="never")
    until(lambda: fleet.job(tenant, "unseen")["state"] == "running", "it runs")
    fleet.spoil("near", spoil)
    since = len(fleet.asked("near"))
    fleet.finish("near", tenant, "unseen")
    fleet.ends(tenant, "unseen", BOUND_S)
    assert any(looks_at_jobs(one) for one in fleet.asked("near", since)), "nothing was stalled"
    assert len(fleet.job(tenant, "unseen")["attempts"]) == 1
