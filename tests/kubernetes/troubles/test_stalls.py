"""Watches through which nothing comes any more, while their connections stand and everything else works."""

import time
from collections.abc import Callable

import pytest

from tests.kubernetes.support.fleet import until
from tests.kubernetes.troubles.meddler import Meddler
from tests.kubernetes.troubles.troubled import SILENCE_S, Troubled

# Silence is trusted for so long, and then everything is listed. The rest is for a busy machine.
BOUND_S = SILENCE_S + 10


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
    fleet.finish("near", tenant, "unseen")

    def ended() -> bool:
        return bool(((fleet.there("near", tenant, "unseen") or {}).get("status") or {}).get("succeeded"))

    until(ended, "it ended in the member")
    begun = time.monotonic()
    assert fleet.job(tenant, "unseen")["state"] == "running"
    fleet.ends(tenant, "unseen", BOUND_S)
    took = time.monotonic() - begun
    assert took > 5, "nothing was stalled"
    assert len(fleet.job(tenant, "unseen")["attempts"]) == 1
