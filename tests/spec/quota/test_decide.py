"""quota: whose share pays, and could it ever be enough."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import NOTHING
from fairway.domain.quota.tree import ALLOW_NAMESPACES, QuotaNode
from fairway.domain.resources import BATCH_CPU
from fairway.domain.tenancy.profile import Tenancy
from fairway.quota.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import T0, Life, S, admitted, queued
from tests.spec.builders.views import Given, events, heard, of, puts, tree, verbs

NOW = T0 + 9 * S


def test_a_job_goes_to_the_leaf_of_its_namespace_and_waits_in_its_queue_from_when_it_was_submitted() -> None:
    life = admitted()
    (said,) = events(decide(of(life, tree=tree()), heard(life), NOW))
    assert said == wire.Queue(
        job="llm-1",
        tenant="team-a",
        attempt=1,
        rev=2,
        at=NOW,
        cause="m2",
        queue="a",
        leaf=("root", "root/a"),
        enqueued_at=life.now.submitted_at,
    )


@pytest.mark.parametrize(
    ("view", "more", "want"),
    [
        pytest.param({}, {}, ("default", ()), id="without a tree there is one queue and no limit"),
        pytest.param({}, {"queue": "gold"}, ("gold", ()), id="a queue that the job names wins"),
        pytest.param({"tree": tree()}, {"queue": "gold"}, ("gold", ("root", "root/a")), id="the leaf still pays"),
        pytest.param(
            {"tree": tree()},
            {"labels": {"quota.scheduling.koordinator.sh/name": "a"}},
            ("a", ("root", "root/a")),
            id="a label names the leaf",
        ),
        pytest.param({"tree": tree(32, 1)}, {}, ("a", ("root", "root/a")), id="it fits its maximum exactly"),
    ],
)
def test_the_queue_and_the_leaf(view: dict, more: dict, want: tuple) -> None:  # type: ignore[type-arg]  # of cases
    life = admitted(**more)
    (said,) = events(decide(of(life, **view), heard(life), NOW))
    assert (said.queue, said.leaf) == want


@pytest.mark.parametrize(
    ("most", "more", "code"),
    [
        pytest.param(tree(31), {}, Code.EXCEEDS_MAX_QUOTA, id="asks for more than the leaf may ever have"),
        pytest.param(tree(32, 0), {}, Code.EXCEEDS_MAX_QUOTA, id="a leaf that takes no jobs at all"),
        pytest.param(
            tree(),
            {"labels": {"quota.scheduling.alibabacloud.com/name": "b"}},
            Code.UNKNOWN_QUOTA,
            id="a label that names no leaf is not overruled by the namespace",
        ),
        pytest.param(
            msgspec.structs.replace(tree(), children=()), {}, Code.UNKNOWN_QUOTA, id="a namespace without a leaf"
        ),
    ],
)
def test_what_can_never_run_is_refused_at_once_and_frees_its_name(most, more, code) -> None:  # type: ignore[no-untyped-def]  # of cases
    life = admitted(**more)
    decision = decide(of(life, tree=most), heard(life), NOW)
    (said,) = events(decision)
    assert (said.verb, said.reasons[0].code, bool(said.reasons[0].remedy)) == ("rejected", code, True)
    assert puts(decision, "names") == {"team-a/PyTorchJob/llm": None}
    assert puts(decision, "live") == {"llm-1": None}


LABELS = ("quota.scheduling.koordinator.sh/name", "quota.scheduling.alibabacloud.com/name")


def two(**more: Any) -> QuotaNode:
    """Leaves `a` of team-a and `b` of team-b."""
    theirs = QuotaNode("b", "root/b", namespaces=("team-b",), **more)
    return msgspec.structs.replace(tree(), children=(*tree().children, theirs))


@pytest.mark.parametrize(
    ("view", "labels", "want"),
    [
        pytest.param({}, {LABELS[0]: "b"}, "NotYourQuota", id="another's leaf by name"),
        pytest.param({}, {LABELS[0]: "root/b"}, "NotYourQuota", id="another's leaf by path"),
        pytest.param({}, {LABELS[1]: "b"}, "NotYourQuota", id="another's leaf by the other label"),
        pytest.param({}, {LABELS[0]: "a", LABELS[1]: "b"}, "NotYourQuota", id="another's leaf behind its own"),
        pytest.param(
            {"tree": two(attributes={ALLOW_NAMESPACES: "team-c"})},
            {LABELS[0]: "b"},
            "NotYourQuota",
            id="a leaf that is open to others",
        ),
        pytest.param(
            {"tree": two(attributes={ALLOW_NAMESPACES: "team-c, team-a"})},
            {LABELS[0]: "b"},
            "root/b",
            id="a leaf that is open to it",
        ),
        pytest.param(
            {"tenancies": {"team-a": Tenancy("team-a", quota_leaves=frozenset({"b"}))}},
            {LABELS[0]: "b"},
            "root/b",
            id="a leaf that its profile lists",
        ),
        pytest.param(
            {"tenancies": {"team-c": Tenancy("team-c", quota_leaves=frozenset({"b"}))}},
            {LABELS[0]: "b"},
            "NotYourQuota",
            id="a leaf that the profile of others lists",
        ),
    ],
)
def test_a_label_counts_only_if_the_leaf_or_a_profile_says_so(view: Any, labels: Any, want: str) -> None:
    life = admitted(labels=labels)
    (said,) = events(decide(of(life, **{"tree": two(), **view}), heard(life), NOW))
    if said.verb == "queue":
        assert said.leaf[-1] == want
        return
    (reason,) = said.reasons
    assert (reason.code, bool(reason.remedy)) == (want, True)
    assert reason.field in {f"metadata.labels['{label}']" for label in LABELS} and "team-b" not in reason.text


def test_the_word_of_the_nearest_node_counts() -> None:
    shut = two(attributes={ALLOW_NAMESPACES: "team-c"})
    above = msgspec.structs.replace(shut, attributes={ALLOW_NAMESPACES: "team-a"})
    life = admitted(labels={LABELS[0]: "b"})
    (said,) = events(decide(of(life, tree=above), heard(life), NOW))
    assert said.verb == "rejected"
    below = msgspec.structs.replace(two(), attributes={ALLOW_NAMESPACES: "team-a"})
    (said,) = events(decide(of(life, tree=below), heard(life), NOW))
    assert said.leaf == ("root", "root/b")


@pytest.mark.parametrize(
    ("view", "life"),
    [
        pytest.param(of(queued()), admitted(), id="delivered again after it was queued"),
        pytest.param(Given(), admitted(), id="a job that nobody knows"),
        pytest.param(of(queued().then(wire.Cancelled)), admitted(), id="cancelled meanwhile"),
    ],
)
def test_what_is_no_news_changes_nothing(view: Given, life: Life) -> None:
    assert decide(view, heard(life), NOW) == NOTHING


def test_the_same_message_gives_the_same_words_under_the_same_id() -> None:
    life = admitted()
    first, second = (decide(of(life), heard(life), NOW) for _ in range(2))
    assert first == second
    assert verbs(first) == ["queue"]


@pytest.mark.parametrize(
    ("most", "verb"),
    [
        pytest.param({"cpu": 1_000, BATCH_CPU: 0}, "queue", id="cpu alone"),
        pytest.param({"cpu": 0, BATCH_CPU: 1_000}, "queue", id="batch resources alone"),
        pytest.param({"cpu": 0, BATCH_CPU: 0}, "rejected", id="neither"),
    ],
)
def test_a_job_that_may_have_either_is_refused_when_it_can_have_neither(most: dict[str, int], verb: str) -> None:
    pods = (PodSet("pod", 1, {"cpu": 1_000}),)
    life = admitted(workload=Workload("batch/v1", "Job", "team-a", "a", pods, 1, batch_first=True))
    leaf = QuotaNode("a", "root/a", {}, most, namespaces=("team-a",))
    view = of(life, tree=QuotaNode("root", "root", {}, {}, children=(leaf,)))
    assert verbs(decide(view, heard(life), NOW)) == [verb]
