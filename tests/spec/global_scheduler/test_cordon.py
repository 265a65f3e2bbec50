"""A cluster that is to leave: no new work, what is there starts anew elsewhere, and then it is forgotten."""

import pytest

from fairway.domain import decision
from fairway.domain.decision import Put
from fairway.reserver.decide import decide as reserve
from fairway.watcher.decide import decide as watch
from fairway.watcher.missing import Emptied
from fairway.wire import fleet
from fairway.wire.reasons import Code
from tests.spec.builders.lives import T0, Life, S, dispatched, placed, queued, reserved, running
from tests.spec.builders.views import cluster, events, heard, node, of, told, verbs


def test_a_job_that_was_placed_as_the_cluster_was_cordoned_goes_back_to_its_queue() -> None:
    life = placed()
    view = of(life, clusters={"c1": cluster("c1", [node(f"n{n}") for n in range(4)], T0, cordoned=True)}, freed={})
    (said,) = events(reserve(view, heard(life), T0))
    assert (said.verb, said.why.code) == ("queue", Code.CORDONED)


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(running(), ["lost", "recall", "queue"], id="running"),
        pytest.param(running(attempts=1), ["lost", "recall", "queue"], id="running in the last attempt it is allowed"),
        pytest.param(dispatched(), ["lost", "recall", "queue"], id="not up yet"),
        pytest.param(reserved(), [], id="not applied yet: it will be, and then it is moved"),
        pytest.param(queued(), [], id="waiting"),
    ],
)
def test_jobs_of_a_cluster_that_is_emptied_start_anew_whatever_their_attempts(life: Life, want: list[str]) -> None:
    moved = watch(of(life, held={"c1": {"llm-1", "unknown"}}), told(Emptied(cluster="c1")), T0 + 900 * S)
    assert verbs(moved) == want


def test_jobs_of_other_clusters_stay_where_they_are() -> None:
    assert verbs(watch(of(running(), held={"c1": {"llm-1"}}), told(Emptied(cluster="c2")), T0 + 900 * S)) == []


def test_a_cluster_that_has_left_is_forgotten_with_all_its_nodes() -> None:
    view = of(clusters={"c1": cluster("c1", [node("n1"), node("n2")], T0)}, freed={})
    (step,) = reserve(view, told(fleet.Report(cluster="c1", epoch="", sequence=0, left=True)), T0).steps
    gone = [(one.table, one.key) for one in step.writes if isinstance(one, Put) and one.value is None]
    # The cluster last: whoever follows the cache would else take the nodes for those of a new one.
    nodes = decision.nodes("c1")
    assert gone == [(nodes, "n1"), (nodes, "n2"), (decision.CLUSTERS, "c1")]
