"""The keeper of manifests, with the rights of its credential, on every bus."""

import pytest

from fairway.adapters.system_clock import SystemClock
from fairway.runtime.ports import Bus
from tests.contract.keeper.told_record import LaterClock, ToldRecord


@pytest.fixture
def record(bus: Bus) -> ToldRecord:
    return ToldRecord(bus, LaterClock(SystemClock()))


async def test_of_a_job_that_ended_long_ago_the_manifest_goes_and_what_it_was_stays(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    await record.over(job)
    record.clock.days = 31
    assert await record.keeper().round() == 1
    assert (await record.secrets(), await record.manifests()) == (0, [])
    (told,) = await record.told()
    (gone,) = told.removed
    ref = record.lives[job].job.submitted_as
    assert (told.job, told.tenant, told.kept) == (job, "team-a", 30 * 86_400_000)
    assert (gone.sequence, gone.sha256, gone.client, str(gone.who)) == (
        ref.sequence,
        ref.sha256,
        "c1",
        "ada (over HTTP)",
    )
