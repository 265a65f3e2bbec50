"""Which nodes a pod may be on: the rules of Kubernetes, one sentence each."""

import pytest

from fairway.placement.fit import Plan, fit
from fairway.wire.capacity import Node
from fairway.wire.workload import Expression
from tests.spec.placement.builders import cluster, job, node, taint, term, tolerate, workers

ZONE_A = node("a", labels={"zone": "a", "cores": "64"})
ZONE_B = node("b", labels={"zone": "b", "cores": "16"})
BARE = node("bare")
ALL = [ZONE_A, ZONE_B, BARE]


def placed_on(nodes: list[Node], **where: object) -> set[str]:
    """The nodes that would take one such pod each, asked one by one."""
    one = job(workers(1, gpu=0, **where))
    return {each.name for each in nodes if isinstance(fit(cluster([each]), one), Plan)}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({}, {"a", "b", "bare"}, id="no constraint admits every node"),
        pytest.param({"node_selector": {"zone": "a"}}, {"a"}, id="a nodeSelector admits equal labels only"),
        pytest.param({"node_terms": (term("zone", "In", "a", "b"),)}, {"a", "b"}, id="In admits any value listed"),
        pytest.param(
            {"node_terms": (term("zone", "NotIn", "a"),)}, {"b", "bare"}, id="NotIn admits nodes without the label"
        ),
        pytest.param({"node_terms": (term("zone", "Exists"),)}, {"a", "b"}, id="Exists wants the label"),
        pytest.param({"node_terms": (term("zone", "DoesNotExist"),)}, {"bare"}, id="DoesNotExist wants none"),
        pytest.param({"node_terms": (term("cores", "Gt", "32"),)}, {"a"}, id="Gt compares whole numbers"),
        pytest.param({"node_terms": (term("cores", "Lt", "64"),)}, {"b"}, id="Lt is strict"),
        pytest.param({"node_terms": (term("zone", "Gt", "1"),)}, set(), id="Gt on a word admits nothing"),
        pytest.param({"node_terms": (term("zone", "Near", "a"),)}, set(), id="an unknown operator admits nothing"),
        pytest.param({"node_terms": ((),)}, set(), id="an empty term admits nothing"),
        pytest.param(
            {"node_terms": (term("zone", "In", "a"), term("zone", "In", "b"))}, {"a", "b"}, id="terms are either-or"
        ),
        pytest.param(
            {"node_terms": ((Expression("zone", "Exists"), Expression("cores", "Gt", ("32",))),)},
            {"a"},
            id="expressions of one term must all hold",
        ),
        pytest.param(
            {"node_terms": (term("metadata.name", "In", "bare", field=True),)}, {"bare"}, id="matchFields names a node"
        ),
        pytest.param(
            {"node_selector": {"zone": "a"}, "node_terms": (term("cores", "Lt", "32"),)},
            set(),
            id="selector and terms must both agree",
        ),
    ],
)
def test_nodes_admitted_by_labels(given: dict[str, object], want: set[str]) -> None:
    assert placed_on(ALL, **given) == want


@pytest.mark.parametrize(
    ("given", "tolerations", "want"),
    [
        pytest.param(taint("own"), (), False, id="NoSchedule keeps pods away"),
        pytest.param(taint("own", "NoExecute"), (), False, id="NoExecute keeps pods away"),
        pytest.param(taint("own", "PreferNoSchedule"), (), True, id="PreferNoSchedule is only a wish"),
        pytest.param(taint("own"), (tolerate("own"),), True, id="Exists tolerates any value"),
        pytest.param(taint("own"), (tolerate(),), True, id="an empty key with Exists tolerates everything"),
        pytest.param(
            taint("own", value="x"), (tolerate("own", "Equal", "x"),), True, id="Equal tolerates the same value"
        ),
        pytest.param(
            taint("own", value="x"), (tolerate("own", "Equal", "y"),), False, id="Equal refuses another value"
        ),
        pytest.param(
            taint("own"), (tolerate("own", effect="NoExecute"),), False, id="a toleration of another effect is none"
        ),
        pytest.param(taint("own"), (tolerate("other"),), False, id="a toleration of another key is none"),
    ],
)
def test_taints_keep_pods_away_unless_tolerated(given, tolerations, want) -> None:  # type: ignore[no-untyped-def]  # the table above has the types
    assert placed_on([node("n", taints=(given,))], tolerations=tolerations) == ({"n"} if want else set())


def test_a_cordoned_node_takes_nothing_now_but_is_no_reason_to_say_never() -> None:
    answer = fit(cluster([node("n", schedulable=False)]), job(workers(1, gpu=0)))
    assert not isinstance(answer, Plan)
    assert (answer.by_node, answer.at_most, answer.ever) == (0, 64, True)


def test_a_passing_taint_of_a_sick_node_is_no_reason_to_say_never_and_a_lasting_one_is() -> None:
    sick = node("n", taints=(taint("node.kubernetes.io/not-ready"),))
    owned = node("n", taints=(taint("own"),))
    answers = [fit(cluster([each]), job(workers(1, gpu=0))) for each in (sick, owned)]
    assert [not isinstance(answer, Plan) and answer.ever for answer in answers] == [True, False]
