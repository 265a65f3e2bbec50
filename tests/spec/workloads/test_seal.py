"""The seal: made with the fleet's key for one attempt in one place, good there and nowhere else."""

from typing import Any

import msgspec
import pytest

from fairway.workloads.member_copy import job_labels, member_copy
from fairway.workloads.seal import SEAL, Spot, attempt_of, of_attempt, sealed, spot_of

KEY = b"k" * 32
JOB = "Job.batch/v1"
WHERE = ("north", JOB)


def job(image: str = "x", pods: int = 2) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": image}], "restartPolicy": "Never"}
    meta = {"name": "train", "namespace": "team-a", "annotations": {"note": "mine"}}
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def made(key: bytes = KEY, **more: Any) -> dict[str, Any]:
    copy = member_copy(job(**more), "train-1", 2)
    return sealed(key, spot_of(*WHERE, copy), ("train-1", 2), copy)


def test_a_seal_is_good_where_it_was_made_and_tells_the_attempt() -> None:
    assert attempt_of(KEY, spot_of(*WHERE, made()), made()) == ("train-1", 2)
    assert made()["metadata"]["annotations"]["note"] == "mine"


SPOTS = {
    "in another cluster": Spot("west", JOB, "team-a", "train"),
    "of another kind": Spot("north", "JobSet.jobset.x-k8s.io/v1alpha2", "team-a", "train"),
    "in another namespace": Spot("north", JOB, "team-evil", "train"),
    "under another name": Spot("north", JOB, "team-a", "train-2"),
}


@pytest.mark.parametrize("spot", SPOTS.values(), ids=list(SPOTS))
def test_a_copied_seal_is_none(spot: Spot) -> None:
    assert attempt_of(KEY, spot, made()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v1",
        "v1 train-1/2  ",
        "v2 train-1/2 x y",
        "v1 train-1/x 00 00",
        "v1 train-1/2 00 \udcff",
        7,
        None,
        ["v1"],
        "v1 train-1/3 " + made()["metadata"]["annotations"][SEAL].split(" ", 2)[2],
        "v1 victim-1/2 " + made()["metadata"]["annotations"][SEAL].split(" ", 2)[2],
        made(key=b"another" * 5)["metadata"]["annotations"][SEAL],
    ],
)
def test_what_was_not_made_with_the_key_is_no_seal(text: Any) -> None:
    forged = made()
    forged["metadata"]["annotations"][SEAL] = text
    assert attempt_of(KEY, spot_of(*WHERE, forged), forged) is None


def test_a_resize_keeps_it_and_another_image_does_not() -> None:
    def content(manifest: dict[str, Any]) -> str:
        return str(manifest["metadata"]["annotations"][SEAL])

    assert content(made(pods=2)) == content(made(pods=64))
    assert content(made(image="x")) != content(made(image="miner"))


def test_what_stands_in_the_seal_proves_nothing_about_an_object_without_annotations() -> None:
    for meta in ({}, {"annotations": None}, {"annotations": []}, {"annotations": {SEAL: {}}}):
        assert attempt_of(KEY, Spot("north", JOB, "team-a", "train"), {"metadata": meta}) is None


def test_an_object_of_before_there_were_seals_is_known_by_who_made_it() -> None:
    copy = member_copy(job(), "train-1", 2)
    ours = {**copy, "metadata": {**copy["metadata"], "managedFields": [{"manager": "fairway"}]}}
    assert of_attempt(KEY, WHERE, ours, ("train-1", 2))
    assert not of_attempt(KEY, WHERE, ours, ("train-1", 3))
    assert not of_attempt(KEY, WHERE, copy, ("train-1", 2))


def test_a_bad_seal_is_worse_than_none() -> None:
    """It may be another fleet's; who made it and what its templates say is then no proof."""
    forged = made(key=b"another" * 5)
    forged["metadata"]["managedFields"] = [{"manager": "fairway"}]
    assert not of_attempt(KEY, WHERE, forged, ("train-1", 2))


def test_nothing_of_the_key_is_in_what_is_applied() -> None:
    assert KEY not in msgspec.json.encode(made()) and KEY.hex().encode() not in msgspec.json.encode(made())
    assert job_labels("train-1", 2).items() <= made()["metadata"]["labels"].items()
