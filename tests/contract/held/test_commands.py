"""Commands towards a gateway: an object that the hub holds has the name of a job that came through another door."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from fairway.client.failure import DENIED, USAGE
from fairway.domain.decision import Step
from fairway.domain.held_object import HeldObject, kept
from fairway.runtime.ports import Commit
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.contract.http.test_limits import serving
from tests.support.credential_door import run, token_file
from tests.support.http_door import NOW, TENANT_A, WIDE, row

TAKEN = Reason(Code.DUPLICATE, "Job team-a/train is live already, as job other-bbbbbbbbbb", "metadata.name")
HELD = HeldObject("Job.batch/v1", "team-a", "train", "u-1", NOW, TAKEN, "train-aaaaaaaaaa", "other-bbbbbbbbbb")
SAID = "Its name is taken by job other-bbbbbbbbbb, which ada (over HTTP) submitted, and which is running in c1."


async def said(folder: Path, *words: str) -> tuple[int, str]:
    """What a tenant is told who types this."""
    async with serving(WIDE) as door:
        job = row("other-bbbbbbbbbb", "running", cluster="c1")
        assert job.spec is not None
        work = msgspec.structs.replace(job.spec.workload, name="train")
        spec = msgspec.structs.replace(job.spec, workload=work, who=Actor("ada", "http", "r-1"))
        await door.house.has(msgspec.structs.replace(job, spec=spec))
        assert await door.house.store.commit(Commit((Step(kept(HELD)),))) == [True]
        options = ("--url", f"http://127.0.0.1:{door.port}", "--token-file", token_file(folder, TENANT_A))
        return await asyncio.to_thread(run, folder, *words, "-n", "team-a", *options)


async def test_both_are_listed(tmp_path: Path) -> None:
    code, text = await said(tmp_path, "get", "jobs")
    assert code == 0
    assert sorted(line.split()[:5] for line in text.splitlines()[1:]) == [
        ["team-a", "train", "Job", "held", "-"],
        ["team-a", "train", "Job", "running", "c1"],
    ]


@pytest.mark.parametrize(
    ("words", "begins", "has"),
    [
        pytest.param(("why", "train"), "Job team-a/train is held on the hub", SAID, id="why, by its name"),
        pytest.param(("why", "job/train"), "Job team-a/train is held on the hub", SAID, id="as kubectl writes it"),
        pytest.param(("why", "team-a/Job/train"), "Job team-a/train is held on the hub", SAID, id="with its namespace"),
        pytest.param(("why", "train-aaaaaaaaaa"), "Job team-a/train is held on the hub", SAID, id="by its job's id"),
        pytest.param(("story", "train"), "Job team-a/train: held on the hub", SAID, id="its story"),
        pytest.param(("get", "job", "train", "-o", "name"), "train-aaaaaaaaaa\n", "", id="get, by its name"),
        pytest.param(
            ("why", "other-bbbbbbbbbb"), "Job team-a/train runs in c1", "job other-bbbbbbbbbb", id="the other"
        ),
    ],
)
async def test_by_its_name_the_object_that_is_held_is_meant_and_the_other_job_by_its_id(
    words: tuple[str, ...], begins: str, has: str, tmp_path: Path
) -> None:
    code, text = await said(tmp_path, *words)
    assert (code, text.startswith(begins), has in text) == (0, True, True), text


async def test_a_kind_that_is_none_is_named(tmp_path: Path) -> None:
    code, text = await said(tmp_path, "why", "team-a/deployment/train")
    assert (code, "deployment is no kind of job" in text) == (USAGE, True), text


async def test_nothing_is_cancelled_by_its_name(tmp_path: Path) -> None:
    code, text = await said(tmp_path, "cancel", "train")
    assert (code, text) == (
        DENIED,
        "fairway: Job team-a/train is held on the hub and not submitted: there is no job to cancel; delete it there: "
        "kubectl delete jobs.batch train -n team-a; job other-bbbbbbbbbb, which has its name, is cancelled by its own "
        "id\n",
    )
