"""A member has objects again of attempts that are over, as after a restore of its etcd from a backup."""

from pathlib import Path

import pytest
from msgspec import Struct

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.clusters import SimCluster
from tests.faults.arena.by_hand import cancel, delete, end, long_jobs, stored_of, where
from tests.faults.arena.members import Attempt
from tests.faults.arena.scene import Scene, under_load


class Backup(Struct, frozen=True):
    """An object as it was while its attempt ran."""

    cluster: SimCluster
    attempt: Attempt
    stored: StoredObject


def backup(scene: Scene, job: str) -> Backup:
    cluster, attempt = where(scene, job)
    return Backup(cluster, attempt, stored_of(cluster)[attempt])


def restore(scene: Scene, old: Backup) -> None:
    scene.arena.members.restored(old.attempt)
    old.cluster.api.store.put(old.stored.key, old.stored.copy())


async def moved(scene: Scene, job: str) -> Backup:
    """The job runs elsewhere now, because somebody deleted its object."""
    old = backup(scene, job)
    delete(old.cluster, old.stored)
    following = (job, old.attempt[1] + 1)
    await scene.until(lambda: following in scene.running, "it runs elsewhere")
    assert where(scene, job)[0] is not old.cluster
    return old


async def recalled(scene: Scene, old: Backup) -> None:
    """Its object is gone, and the record says that this was to be."""
    store = old.cluster.api.store
    recalls = scene.recalled.count(old.attempt)
    restore(scene, old)
    await scene.until(lambda: scene.recalled.count(old.attempt) > recalls, "it is recalled")
    await scene.until(lambda: store.get(old.stored.key) is None, "it is removed")


@pytest.mark.slow
async def test_what_a_restored_member_runs_of_a_job_that_runs_elsewhere_is_recalled_and_the_job_goes_on(
    tmp_path: Path,
) -> None:
    async def play(scene: Scene) -> None:
        (job,) = await long_jobs(scene, 1)
        old = await moved(scene, job)
        here, present = where(scene, job)
        before = stored_of(here)[present]
        await recalled(scene, old)
        await scene.flows()
        assert stored_of(here)[present] is before
        assert present in scene.arena.members.on(here.name)
        assert scene.given_up == {old.attempt}
        end(scene, [job])

    assert (await under_load(tmp_path, play)).wrong == ()


@pytest.mark.slow
async def test_what_a_restored_member_runs_of_jobs_that_have_ended_is_recalled(tmp_path: Path) -> None:
    """One that succeeded elsewhere, and one that was cancelled."""

    async def play(scene: Scene) -> None:
        jobs = await long_jobs(scene, 2)
        olds = [await moved(scene, jobs[0]), backup(scene, jobs[1])]
        end(scene, jobs[:1])
        await cancel(scene, jobs[1], olds[1].stored.key.namespace)
        await scene.until(lambda: {*jobs} <= scene.ended, "both have ended")
        await scene.flows()
        for old in olds:
            await recalled(scene, old)

    assert (await under_load(tmp_path, play)).wrong == ()
