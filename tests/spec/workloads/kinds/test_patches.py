"""The patch that changes an object in place."""

from typing import Any

import msgspec
import pytest

from fairway.lab.kubesim.api.json_patch import json_patch
from fairway.workloads.kinds.in_place import steps
from tests.spec.workloads.kinds.test_in_place import POLICY, Json, job, torch, volcano


def live(manifest: Json, **more: Any) -> Json:
    """As its API server and its operator have it."""
    found: Json = msgspec.json.decode(msgspec.json.encode(manifest))
    found["metadata"] |= {"uid": "u-9", "resourceVersion": "7", **more}
    return found


def patched(there: Json, before: Json, after: Json) -> Json:
    return json_patch(msgspec.json.decode(msgspec.json.encode(there)), steps(there, before, after))


def test_a_patch_sets_what_differs_of_the_object_that_was_seen_and_nothing_else() -> None:
    there = live(job())
    assert steps(there, job(), job(parallelism=1)) == [
        {"op": "test", "path": "/metadata/uid", "value": "u-9"},
        {"op": "add", "path": "/spec/parallelism", "value": 1},
    ]


def test_what_is_so_already_needs_no_patch() -> None:
    assert steps(live(job(parallelism=1)), job(), job(parallelism=1)) == []
    assert steps(live(job()), job(), job()) == []


def test_what_others_wrote_stays() -> None:
    there = live(job(backoffLimit=6), annotations={"seal": "s"}, labels={"own": "1", "theirs": "2"})
    after = {**job(activeDeadlineSeconds=60), "metadata": {"name": "a", "labels": {"own": "2"}}}
    found = patched(there, job(), after)
    assert found["spec"] == job(backoffLimit=6, activeDeadlineSeconds=60)["spec"]
    assert found["metadata"] == there["metadata"]


def test_a_name_with_a_slash_is_one_step() -> None:
    before, after = ({"spec": {"limits": {"a/b~c": count}}} for count in (1, 2))
    assert patched(live({**before, "metadata": {}}), before, after)["spec"] == after["spec"]


def test_what_is_taken_away_goes() -> None:
    assert "backoffLimit" not in patched(live(job(backoffLimit=2)), job(backoffLimit=2), job())["spec"]
    assert steps(live(job()), job(backoffLimit=2), job()) == []


def test_what_had_no_place_yet_gets_one() -> None:
    before = torch()
    after = torch(**POLICY)
    assert patched(live(before), before, after)["spec"]["runPolicy"] == POLICY["runPolicy"]
    assert (
        patched(live({**before, "spec": {**before["spec"], "runPolicy": None}}), before, after)["spec"] == after["spec"]
    )


def test_an_entry_with_a_name_is_found_where_it_is_now() -> None:
    there = live(volcano(2, 3))
    there["spec"]["tasks"].reverse()
    found = patched(there, volcano(2, 3), volcano(2, 1))["spec"]["tasks"]
    assert {one["name"]: one["replicas"] for one in found} == {"t0": 2, "t1": 1}


def test_a_group_of_ray_is_found_by_the_name_that_it_has() -> None:
    before, after = ({"metadata": {"name": "a"}, "spec": {"workerGroupSpecs": groups(count)}} for count in (3, 1))
    there = live(before)
    there["spec"]["workerGroupSpecs"].reverse()
    found = patched(there, before, after)["spec"]["workerGroupSpecs"]
    assert {one["groupName"]: one["replicas"] for one in found} == {"cpu": 2, "gpu": 1}


def groups(count: int) -> list[Json]:
    return [{"groupName": "cpu", "replicas": 2}, {"groupName": "gpu", "replicas": count}]


def test_an_entry_that_is_gone_is_not_changed() -> None:
    with pytest.raises(ValueError, match="no entry t1"):
        steps(live(volcano(2)), volcano(2, 3), volcano(2, 1))
