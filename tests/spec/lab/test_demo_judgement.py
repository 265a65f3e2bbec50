"""The demo judges from the record; a promise that was not kept has to show."""

from pathlib import Path

import msgspec
import pytest
import yaml

from fairway.client.failure import Failure
from fairway.lab.demo.recorded_events import Record, says
from fairway.lab.demo.scenario import Mark, load
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.paths import ROOT
from tests.spec.builders.lives import Life, spec

SCENARIO = ROOT / "libs/fairway/lab/demo/script/scenario.yaml"


class Past:
    """The part of a bus that a record follows, with a past and no future."""

    def __init__(self, life: Life) -> None:
        self._life = life

    async def history(self, stream: str, live: bool = False):  # type: ignore[no-untyped-def]  # a generator of deliveries
        for sequence, message in self._life.said:
            yield Delivery(str(sequence), "fairway.job.x", msgspec.json.encode(message), sequence)


async def recorded() -> Record:
    life = Life().then(wire.Admitted, spec=spec()).then(wire.Queue, queue="q")
    life = life.then(wire.Blocked, why=Reason(Code.WAITING_FOR_QUOTA, "none left")).then(wire.Dequeued)
    record = Record()
    await record.follow(Past(life))  # type: ignore[arg-type]  # it needs no more of a bus
    return record


async def test_what_was_said_is_found_in_its_place_only() -> None:
    record = await recorded()
    blocked = record.find(Mark("team-a/llm", "blocked"))
    assert blocked and record.find(Mark("team-a/llm", "dequeued"), blocked)
    assert not record.find(Mark("team-a/llm", "queue"), blocked)
    assert not record.find(Mark("team-a/other", "blocked"))


async def test_a_job_is_what_its_events_make_it() -> None:
    job = (await recorded()).job("team-a/llm")
    assert job is not None and job.state == "dequeued"


FRAGMENTED = wire.Verdict("north", Code.FRAGMENTED)
BACK = wire.Queue(
    job="a", tenant="t", queue="q", attempt=2, why=Reason(Code.WAITING_FOR_ROOM, "none"), verdicts=(FRAGMENTED,)
)


@pytest.mark.parametrize(
    ("mark", "want"),
    [
        pytest.param(Mark("t/a", "queue"), True, id="the verb"),
        pytest.param(Mark("t/a", "placed"), False, id="another verb"),
        pytest.param(Mark("t/a", "queue", why="WaitingForRoom"), True, id="its reason"),
        pytest.param(Mark("t/a", "queue", why="WaitingForQuota"), False, id="another reason"),
        pytest.param(Mark("t/a", "queue", attempt=1), False, id="another attempt"),
        pytest.param(Mark("t/a", "queue", verdicts={"north": "Fragmented"}), True, id="a cluster's verdict"),
        pytest.param(Mark("t/a", "queue", verdicts={"south": "Fragmented"}), False, id="another cluster's"),
        pytest.param(Mark("t/a", "queue", cluster="north"), False, id="it names no cluster"),
    ],
)
def test_a_mark_fits_a_message(mark: Mark, want: bool) -> None:
    assert says(BACK, mark) is want


def test_the_scenario_shows_everything_that_it_is_for() -> None:
    script = load(SCENARIO)
    kinds = {f"{one.manifest['kind']}.{one.manifest['apiVersion'].partition('/')[0]}" for one in script.pieces.values()}
    assert kinds >= {
        "PyTorchJob.kubeflow.org",
        "TFJob.kubeflow.org",
        "MPIJob.kubeflow.org",
        "SparkApplication.sparkoperator.k8s.io",
        "Job.batch.volcano.sh",
        "Workflow.argoproj.io",
        "Job.batch",
        "JobSet.jobset.x-k8s.io",
        "RayJob.ray.io",
    }
    roles = script.scenario.roles
    assert {role.by for role in roles} == {"hub", "cli", "http", "bus"}
    assert {role.end for role in roles} == {"succeeded", "rejected", "cancelled"}
    assert max(role.attempts for role in roles) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"story": 1}, "no scenario", id="a field of another type"),
        pytest.param({"manifests": []}, "which no manifest describes", id="a job without a manifest"),
        pytest.param({"settings": ["none.yaml"]}, "none.yaml", id="a file that is not there"),
    ],
)
def test_a_scenario_that_cannot_be_played(change: dict[str, object], says: str, tmp_path: Path) -> None:
    given = yaml.safe_load(SCENARIO.read_text())
    given |= {name: [str(SCENARIO.parent / one) for one in given[name]] for name in ("settings", "manifests")}
    file = tmp_path / "scenario.yaml"
    file.write_text(yaml.safe_dump({**given, **change}))
    with pytest.raises(Failure, match=says):
        load(file)
