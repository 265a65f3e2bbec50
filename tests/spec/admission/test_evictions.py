"""admission: for whom others are evicted, and who may be evicted for others."""

from typing import Any

import pytest
from msgspec import Raw, json

from fairway.admission.decide import decide
from fairway.domain.submission import BUS, HUB
from fairway.domain.tenancy.profile import Tenancy
from fairway.runtime.views.settings import Catalog
from fairway.wire.reasons import Code
from fairway.workloads.typed.manifests import read_typed
from tests.spec.admission.revisions import decided, first_look, queued, running, with_meta
from tests.spec.admission.test_decide import NOW, catalog, manifest, pods, submitted, view
from tests.spec.builders.views import events

Json = dict[str, Any]
KOORDINATOR = "quota.scheduling.koordinator.sh/preemptible"
ACK = "quota.scheduling.alibabacloud.com/preemptible"


def classes(default: str = "") -> Catalog:
    named = {"calm": {"value": 9, "preemptionPolicy": "Never"}, "keen": {"value": 9}}
    return catalog(*(("PriorityClass", name, {**one, "globalDefault": name == default}) for name, one in named.items()))


def admitted(body: Json, hub: Catalog | None = None, **more: Any) -> Any:
    heard = submitted(body, **more)
    (said,) = events(decide(view(heard, hub), heard, NOW))
    return said


@pytest.mark.parametrize(
    ("body", "default", "want"),
    [
        pytest.param(manifest(), "", True, id="no class"),
        pytest.param(pods(priorityClassName="keen"), "", True, id="a class that says nothing of it"),
        pytest.param(pods(priorityClassName="calm"), "", False, id="a class with Never"),
        pytest.param(manifest(), "calm", False, id="the default class with Never"),
        pytest.param(pods(priorityClassName="keen"), "calm", True, id="its own class beside such a default"),
    ],
)
def test_nobody_is_evicted_for_a_job_of_a_class_that_never_preempts(body: Json, default: str, want: bool) -> None:
    assert admitted(body, classes(default)).spec.evicts is want


def test_what_becomes_of_the_class_later_changes_no_job_that_was_admitted() -> None:
    """As with its value: a policy of the class of now counts for jobs that come now."""
    hub = classes()
    first = admitted(pods(priorityClassName="calm"), hub)
    hub.classes.take("calm", {"value": 9})
    assert (first.spec.evicts, admitted(pods(priorityClassName="calm"), hub).spec.evicts) == (False, True)


LABELLED: dict[str, tuple[dict[str, str], bool]] = {
    "nothing": ({}, True),
    "that it may": ({KOORDINATOR: "true"}, True),
    "that it may not, to Koordinator": ({KOORDINATOR: "false"}, False),
    "that it may not, to ACK": ({ACK: "false"}, False),
    "both": ({KOORDINATOR: "true", ACK: "false"}, False),
}


@pytest.mark.parametrize("door", [HUB, BUS])
@pytest.mark.parametrize(("labels", "want"), LABELLED.values(), ids=list(LABELLED))
def test_a_job_says_by_a_label_whether_it_may_be_evicted(labels: dict[str, str], want: bool, door: str) -> None:
    assert admitted(manifest(labels=labels), source=door).spec.evictable is want


def test_the_label_counts_of_jobs_of_which_no_more_is_read_than_their_head() -> None:
    body = manifest(labels={ACK: "false"})
    typed = read_typed(Raw(json.encode(body)), Tenancy("team-a"))
    assert typed is not None and typed.quiet
    assert admitted(body, source=HUB).spec.evictable is False


@pytest.mark.parametrize("label", [KOORDINATOR, ACK])
def test_a_label_of_its_pods_is_for_the_members_schedulers(label: str) -> None:
    body = manifest()
    body["spec"]["template"]["metadata"] = {"labels": {label: "false"}}
    assert admitted(body).spec.evictable is True


@pytest.mark.parametrize("door", [HUB, BUS])
@pytest.mark.parametrize("word", ["False", "no", "0", ""])
def test_another_word_is_refused_where_it_stands(word: str, door: str) -> None:
    said = admitted(manifest(labels={ACK: word}), source=door)
    (reason,) = said.reasons
    assert (said.verb, reason.code, reason.field) == ("rejected", Code.INVALID, f"metadata.labels['{ACK}']")
    assert "true" in reason.remedy


def test_a_job_that_waits_takes_over_a_new_label_and_one_that_runs_does_not() -> None:
    labelled = with_meta(labels={ACK: "false"})
    (said,) = events(first_look(queued(), labelled))
    assert (said.verb, said.spec.evictable) == ("revised", False)
    (said,) = events(first_look(running(), labelled))
    assert (said.verb, said.why.code) == ("unchanged", Code.NOT_CHANGEABLE)
    assert "preemptible false instead of true" in said.why.text


def test_a_change_of_a_job_that_runs_keeps_for_whom_others_are_evicted() -> None:
    before = running()
    assert before.now.spec is not None
    assert decided(before, with_meta(labels={"a": "b"})).spec.evicts is before.now.spec.evicts is True


NOTICE = "fairway.io/evict-notice"


@pytest.mark.parametrize("door", [HUB, BUS])
@pytest.mark.parametrize(("said", "want"), [({}, 0), ({NOTICE: "90s"}, 90_000), ({NOTICE: "0s"}, 0)])
def test_a_job_says_by_an_annotation_how_long_it_needs_to_save_its_work(
    said: dict[str, str], want: int, door: str
) -> None:
    assert admitted(manifest(annotations=said), source=door).spec.evict_notice == want


@pytest.mark.parametrize("door", [HUB, BUS])
@pytest.mark.parametrize(
    ("word", "says"), [("30", "no duration"), ("1m30s", "no duration"), ("", "no duration"), ("25h", "too long")]
)
def test_a_notice_that_is_none_is_refused_where_it_stands(word: str, says: str, door: str) -> None:
    said = admitted(manifest(annotations={NOTICE: word}), source=door)
    (reason,) = said.reasons
    assert (said.verb, reason.field) == ("rejected", f"metadata.annotations['{NOTICE}']")
    assert says in reason.text


def test_a_notice_that_is_no_text_is_refused_once() -> None:
    (reason,) = admitted(manifest(annotations={NOTICE: 30}), source=BUS).reasons
    assert "not a string" in reason.text


def test_a_job_takes_over_another_notice_whether_it_waits_or_runs() -> None:
    noticed = with_meta(annotations={NOTICE: "30s"})
    (said,) = events(first_look(queued(), noticed))
    assert (said.verb, said.spec.evict_notice) == ("revised", 30_000)
    said = decided(running(), noticed)
    assert (said.verb, said.spec.evict_notice) == ("adjust", 30_000)
