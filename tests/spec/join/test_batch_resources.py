"""What a join makes, keeps and refuses in a member for pods on batch resources."""

from typing import Any

import pytest

from fairway.client.failure import Failure
from fairway.join.batch_resources import objects
from fairway.join.batch_resources.plan import BatchObjects, BatchPlan, plan

Json = dict[str, Any]
OWN_CLASS = objects.priority_class()
OWN_PROFILE = objects.profile("fairway-batch")
SKIP = {"config.koordinator.sh/skip-update-resources": ""}
OTHERS = {"labels": {"app.kubernetes.io/managed-by": "helm"}}


def a_class(name: str = "fairway-batch", **said: Any) -> Json:
    """Somebody else's, which gives way to all others but for what is `said`."""
    whole = {"metadata": {"name": name, **OTHERS}, "value": 5000, "preemptionPolicy": "Never"}
    return whole | said


def a_profile(annotations: Json | None = None, **said: Any) -> Json:
    """Somebody else's, which says what is needed but for what is `said`."""
    spec = {
        "selector": {"matchLabels": {"fairway.io/batch-resources": "true"}},
        "qosClass": "BE",
        "priorityClassName": "fairway-batch",
    }
    metadata = {"name": "fairway-batch", **OTHERS, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": spec | said}


def changed(own: Json, **said: Any) -> Json:
    """What a join made, after somebody edited it."""
    return own | {"spec": own["spec"] | said} if "spec" in own else own | said


def test_pods_on_batch_resources_give_way_to_all_others() -> None:
    """A negative value, below that of pods without a class, and it preempts nobody."""
    assert (OWN_CLASS["value"], OWN_CLASS["preemptionPolicy"], OWN_CLASS["globalDefault"]) == (-1000, "Never", False)
    assert OWN_PROFILE["spec"] == {
        "selector": {"matchLabels": {"fairway.io/batch-resources": "true"}},
        "qosClass": "BE",
        "priorityClassName": "fairway-batch",
        "labels": {"koordinator.sh/priority-class": "koord-batch"},
    }


@pytest.mark.parametrize(
    ("chosen", "seen", "want"),
    [
        pytest.param("", BatchObjects(False, a_class()), BatchPlan(), id="without Koordinator nothing"),
        pytest.param("any", BatchObjects(False), BatchPlan(), id="without Koordinator nothing is looked for"),
        pytest.param(
            "",
            BatchObjects(True),
            BatchPlan("fairway-batch", applied=(OWN_CLASS, OWN_PROFILE)),
            id="both anew, the class first",
        ),
        pytest.param(
            "",
            BatchObjects(True, OWN_CLASS, OWN_PROFILE),
            BatchPlan("fairway-batch", applied=(OWN_CLASS, OWN_PROFILE)),
            id="the join's own, once more",
        ),
        pytest.param(
            "",
            BatchObjects(True, changed(OWN_CLASS, value=7), OWN_PROFILE),
            BatchPlan("fairway-batch", (changed(OWN_CLASS, value=7),), (OWN_CLASS, OWN_PROFILE)),
            id="the join's own class with another value, which cannot be changed",
        ),
        pytest.param(
            "",
            BatchObjects(True, OWN_CLASS, changed(OWN_PROFILE, qosClass="LS", priorityClassName="high")),
            BatchPlan("fairway-batch", applied=(OWN_CLASS, OWN_PROFILE)),
            id="the join's own profile with other fields of its own, which are applied",
        ),
        pytest.param(
            "",
            BatchObjects(True, OWN_CLASS, changed(OWN_PROFILE, probability=50)),
            BatchPlan("fairway-batch", (changed(OWN_PROFILE, probability=50),), (OWN_CLASS, OWN_PROFILE)),
            id="the join's own profile with a harmful field that others added, which goes with the whole",
        ),
        pytest.param(
            "",
            BatchObjects(True, changed(OWN_CLASS, value=7), changed(OWN_PROFILE, probability=50)),
            BatchPlan(
                "fairway-batch",
                (changed(OWN_PROFILE, probability=50), changed(OWN_CLASS, value=7)),
                (OWN_CLASS, OWN_PROFILE),
            ),
            id="the profile goes before the class that it names",
        ),
        pytest.param(
            "",
            BatchObjects(True, a_class(), a_profile()),
            BatchPlan("fairway-batch", kept=("PriorityClass fairway-batch", "ClusterColocationProfile fairway-batch")),
            id="somebody else's, within Koordinator's range",
        ),
        pytest.param(
            "",
            BatchObjects(True, a_class(value=-1), a_profile(probability="100%", schedulerName="koord-scheduler")),
            BatchPlan("fairway-batch", kept=("PriorityClass fairway-batch", "ClusterColocationProfile fairway-batch")),
            id="somebody else's, negative, and a profile that says more",
        ),
        pytest.param(
            "idle",
            BatchObjects(True, a_class("idle", value=5999), OWN_PROFILE),
            BatchPlan("idle", applied=(objects.profile("idle"),), kept=("PriorityClass idle",)),
            id="a class that was named",
        ),
    ],
)
def test_what_a_join_does(chosen: str, seen: BatchObjects, want: BatchPlan) -> None:
    assert plan("north", chosen, seen) == want


LABEL = "other pods than those with the label fairway.io/batch-resources: true"
EXPRESSION = [{"key": "a", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("chosen", "seen", "cause"),
    [
        pytest.param(
            "", BatchObjects(True, a_class(value=0)), "its value 0 is neither negative nor", id="the value of others"
        ),
        pytest.param("", BatchObjects(True, a_class(value=4999)), "range for batch, 5000 to 5999", id="a value below"),
        pytest.param("", BatchObjects(True, a_class(value=6000)), "its value 6000", id="a value above"),
        pytest.param(
            "",
            BatchObjects(True, a_class(preemptionPolicy="PreemptLowerPriority")),
            "PriorityClass fairway-batch of north is not for batch resources: its pods may drive out others",
            id="a class that preempts",
        ),
        pytest.param("", BatchObjects(True, a_class(globalDefault=True)), "globalDefault", id="the class of all"),
        pytest.param("idle", BatchObjects(True), "PriorityClass idle is not in north", id="a class that is not there"),
        pytest.param(
            "koord-batch",
            BatchObjects(True, a_class("koord-batch", preemptionPolicy="PreemptLowerPriority")),
            "PriorityClass koord-batch of north",
            id="Koordinator's own, as it installs it",
        ),
        pytest.param("", BatchObjects(True, None, a_profile(selector={})), LABEL, id="a profile of all pods"),
        pytest.param("", BatchObjects(True, None, a_profile(selector=None)), LABEL, id="a profile without a selector"),
        pytest.param(
            "",
            BatchObjects(
                True, None, a_profile(selector={**OWN_PROFILE["spec"]["selector"], "matchExpressions": EXPRESSION})
            ),
            LABEL,
            id="a profile of some of our pods",
        ),
        pytest.param(
            "",
            BatchObjects(True, None, a_profile(namespaceSelector={"matchLabels": {"a": "b"}})),
            "namespaceSelector",
            id="a profile of some namespaces",
        ),
        pytest.param(
            "", BatchObjects(True, None, a_profile(probability=99)), "probability 99", id="a profile by chance"
        ),
        pytest.param(
            "",
            BatchObjects(True, None, a_profile(qosClass="LS")),
            "its qosClass is not BE",
            id="another class of service",
        ),
        pytest.param(
            "",
            BatchObjects(True, None, a_profile(priorityClassName="high")),
            "its priorityClassName is not fairway-batch",
            id="a profile with another class",
        ),
        pytest.param(
            "",
            BatchObjects(True, None, a_profile(labels={"koordinator.sh/priority-class": "koord-prod"})),
            "another label koordinator.sh/priority-class",
            id="a profile that says prod",
        ),
        pytest.param(
            "", BatchObjects(True, None, a_profile(SKIP)), "skip-update-resources", id="a profile that converts none"
        ),
    ],
)
def test_what_a_join_refuses_by_name(chosen: str, seen: BatchObjects, cause: str) -> None:
    with pytest.raises(Failure) as refused:
        plan("north", chosen, seen)
    assert cause in str(refused.value.args[0])
    assert refused.value.remedy


def test_a_namespace_selector_that_selects_every_namespace_leaves_no_pod_out() -> None:
    assert objects.profile_fault(a_profile(namespaceSelector={}), "fairway-batch") == ""
