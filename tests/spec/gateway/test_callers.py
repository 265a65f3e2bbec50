"""Which right stands for what is asked at the door, and how much one caller may ask."""

from typing import Any

import pytest

from fairway.gateway.callers.caller import AccessQuestion
from fairway.gateway.callers.page_cursor import PageCursor
from fairway.gateway.callers.rate_limits import Buckets, InHand
from fairway.gateway.callers.rights_of_kinds import setting, submitting
from fairway.gateway.callers.tokens import claims
from fairway.gateway.http.problem import Problem
from fairway.workloads.crds import definitions
from fairway.workloads.hub.objects import SETTINGS, hub_object
from fairway.workloads.kinds.registry import KINDS


def manifest(kind: str, api_version: str, **meta: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", **meta}}


@pytest.mark.parametrize("key", list(KINDS))
def test_submitting_is_creating_the_kind_on_the_hub(key: str) -> None:
    kind = KINDS[key]
    group = kind.api_version.rpartition("/")[0]
    asked = submitting(manifest(kind.name, kind.api_version, namespace="team-a"))
    assert asked == AccessQuestion("create", kind.plural, group, "team-a")


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            manifest("Job", "batch/v1"), AccessQuestion("create", "jobs", "batch", "default"), id="no namespace"
        ),
        pytest.param(
            manifest("Job", "batch/v9"), AccessQuestion("create", "jobs", namespace="default"), id="an unknown version"
        ),
        pytest.param(
            {"kind": ["Job"], "metadata": 7}, AccessQuestion("create", "jobs", namespace="default"), id="no object"
        ),
        pytest.param(
            manifest("Job", "batch/v1", namespace=""), AccessQuestion("create", "jobs", "batch", "default"), id="empty"
        ),
        pytest.param(
            manifest("Job", "batch/v1", namespace=[1]), AccessQuestion("create", "jobs", "batch", "[1]"), id="a list"
        ),
    ],
)
def test_what_is_asked_is_never_about_more_than_one_namespace(given: dict[str, Any], want: AccessQuestion) -> None:
    assert submitting(given) == want
    assert submitting(given).namespace != ""


@pytest.mark.parametrize("kind", list(SETTINGS))
def test_the_names_of_settings_are_those_of_their_definitions(kind: str) -> None:
    plain, _, api_version = kind.partition(".")
    group = api_version.rpartition("/")[0]
    names = {
        (one["spec"]["group"], one["spec"]["names"]["kind"]): one["spec"]["names"]["plural"]
        for one in definitions().values()
    } | {("scheduling.k8s.io", "PriorityClass"): "priorityclasses"}
    patch, create = setting(hub_object(kind, manifest(plain, api_version, namespace="a")))
    assert patch == AccessQuestion("patch", names[group, plain], group, "a", "x")
    assert create == AccessQuestion("create", names[group, plain], group, "a")


def test_a_bucket_fills_again_and_is_each_ones_own() -> None:
    buckets = Buckets(10, 20)
    assert [buckets.wait("a", 0) for _ in range(21)] == [0] * 20 + [100]
    assert buckets.wait("b", 0) == 0
    assert [buckets.wait("a", 100), buckets.wait("a", 100)] == [0, 100]
    assert buckets.wait("a", 50) > 0, "a clock that goes back fills nothing"
    assert sum(buckets.wait("a", 60_000) == 0 for _ in range(30)) == 20


def test_what_is_in_hand_is_given_back() -> None:
    hands = InHand(1, "streams of one caller")
    with hands.one("a"), hands.one("b"), pytest.raises(Problem, match="1 streams of one caller"), hands.one("a"):
        raise AssertionError("one more than may be")
    with hands.one("a"):
        pass


def test_what_is_sealed_says_nothing_and_opens_where_it_was_sealed() -> None:
    seal = PageCursor()
    other = PageCursor()
    closed = seal.close("their-secret-job-abc")
    assert (seal.open(closed), "secret" in closed, closed == seal.close("their-secret-job-abc")) == (
        "their-secret-job-abc",
        False,
        False,
    )
    for bad in (closed[:-4], closed + "AAAA", "~", "~~~", "~\u00e9", other.close("x")):
        with pytest.raises(Problem, match="not known here"):
            seal.open(bad)
    assert seal.open("plain-id") == "plain-id"


UNREADABLE = ("", "abc", "a.b.c", "a.W10.c", "a.IiI.c", "a." + "W1tb" * 5_000 + ".c", "..", "a.eyJhdWQiOjd9.c")


@pytest.mark.parametrize("token", UNREADABLE)
def test_a_token_that_claims_nothing_readable_claims_nothing(token: str) -> None:
    assert (claims(token).audiences <= {""}, claims(token).subject) == (True, None)
