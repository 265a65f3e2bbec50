"""`submit` makes one job of the pods of a gang in its files."""

from typing import Any

import pytest

from fairway.cli.manifests import JOB, TEMPLATE, Document
from fairway.cli.templates import written_out
from tests.spec.builders.gangs_of_pods import KOORDINATOR, KUEUE, VERSIONS, VOLCANO, Json, pod, pod_group
from tests.spec.cli.test_templates import dry_run

PODS = [pod(name) for name in "abc"]


@pytest.mark.parametrize("marks", [KUEUE, KOORDINATOR], ids=["Kueue", "Koordinator"])
@pytest.mark.parametrize("order", ["abc", "cba"])
def test_pods_of_a_gang_are_one_job_whatever_their_order(order: str, marks: Json) -> None:
    made = written_out([Document(f"{name}.yaml", pod(name, marks)) for name in order])
    assert {one.name: one.role for one in made} == {"a": JOB, "b": TEMPLATE, "c": TEMPLATE}
    (leader,) = [one for one in made if one.role == JOB]
    assert [one["metadata"]["name"] for one in leader.manifest["gang"]] == ["b", "c"]


def test_they_are_sized_together() -> None:
    found = dry_run(*PODS)
    assert [one["accepted"] for one in found] == [True] * 3
    assert [one.get("gang_minimum") for one in found] == [3, None, None]


NOT_ONE: dict[str, tuple[list[Json], str]] = {
    "one is missing": (PODS[:2], "2 of 3 pods of gang g are there"),
    "one too many": ([*PODS, pod("d")], "4 pods say that they are of gang g, and that it has 3"),
    "one twice": ([*PODS[:2], pod("b")], "is that of another pod of the gang"),
    "two without a name": ([pod("a"), *({**pod(""), "metadata": {**KUEUE, "generateName": "x-"}} for _ in "ab")], ""),
}


@pytest.mark.parametrize(("pods", "text"), NOT_ONE.values(), ids=list(NOT_ONE))
def test_what_is_no_whole_gang_is_not_sent(pods: list[Json], text: str) -> None:
    found: list[dict[str, Any]] = dry_run(*pods)
    assert not any(one["accepted"] for one in found)
    assert all(text in why["text"] for one in found for why in one["reasons"][:1])


def test_two_gangs_and_a_pod_of_its_own_are_three_jobs() -> None:
    other = {**KUEUE, "labels": {"kueue.x-k8s.io/pod-group-name": "h"}}
    made = written_out([Document("f", one) for one in (*PODS, *(pod(name, other) for name in "def"), pod("z", {}))])
    assert [one.name for one in made if one.role == JOB] == ["a", "d", "z"]


def test_what_has_the_others_in_it_already_is_sent_as_it_is() -> None:
    whole = {**PODS[0], "gang": PODS[1:]}
    (made,) = written_out([Document("f", whole)])
    assert made.manifest == whole


@pytest.mark.parametrize(("marks", "version"), VERSIONS, ids=[version for _, version in VERSIONS])
def test_a_pod_group_in_the_files_goes_with_the_pods_that_name_it(marks: Json, version: str) -> None:
    files = [pod_group(version), *(pod(name, marks) for name in "cab")]
    made = written_out([Document("f", one) for one in files])
    (leader,) = [one for one in made if one.role == JOB]
    assert leader.manifest["podGroup"]["spec"] == {"minMember": 3}
    assert [one["metadata"]["name"] for one in leader.manifest["gang"]] == ["b", "c"]
    assert not any(one.unused for one in made)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ([pod(name, VOLCANO) for name in "abc"], "there is no PodGroup g"),
        ([pod_group(), pod("a", VOLCANO), pod("b", VOLCANO)], "2 of 3 pods of gang g are there"),
    ],
    ids=["it is in none of them", "one pod is missing"],
)
def test_without_it_or_without_a_pod_none_is_sent(files: list[Json], text: str) -> None:
    found = [one for one in dry_run(*files) if one["kind"] == "Pod"]
    assert found and not any(one["accepted"] for one in found)
    assert all(text in one["reasons"][0]["text"] for one in found), found
