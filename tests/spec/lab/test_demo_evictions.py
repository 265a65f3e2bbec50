"""The demo says of its evictions what is so: in its titles, and in the part of a story that it tells."""

from typing import Any

import pytest
import yaml

from fairway.explain.story import compose
from fairway.lab.demo.evictions import of_its_room
from fairway.lab.demo.scenario import Act, load
from fairway.wire import jobs as wire
from tests.paths import ROOT
from tests.spec.builders.lives import T0, S, nominated, place, queued

DEMO = ROOT / "libs/fairway/lab/demo/script"
SCRIPT = load(DEMO / "scenario.yaml")
EXPLAINED = [one for one in SCRIPT.scenario.acts if one.evicted]


def act(name: str) -> Act:
    return next(one for one in SCRIPT.scenario.acts if one.name == name)


def pods(job: str) -> dict[str, Any]:
    spec: dict[str, Any] = SCRIPT.pieces[job].manifest["spec"]
    return spec["template"]["spec"]


def cores(job: str) -> int:
    parallel: int = SCRIPT.pieces[job].manifest["spec"]["parallelism"]
    return parallel * int(pods(job)["containers"][0]["resources"]["requests"]["cpu"])


def settings(kind: str) -> list[dict[str, Any]]:
    return [one for one in SCRIPT.settings if one["kind"] == kind]


@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in EXPLAINED])
def test_both_sides_are_jobs_of_the_act_and_the_one_that_went_comes_back(one: Act) -> None:
    attempts = {role.job: role.attempts for role in one.jobs}
    assert attempts == {one.claims: 1, one.evicted: 2}


def test_a_reclaim_and_a_preemption_are_explained() -> None:
    whys = {mark.why for one in EXPLAINED for mark in one.record if mark.says == "evicted" and mark.job == one.evicted}
    assert whys == {"Reclaimed", "Preempted"}


def test_the_title_of_the_reclaim_has_the_cores_of_both_sides() -> None:
    one = act("reclaim")
    nodes = yaml.safe_load((DEMO / "tenants.yaml").read_text())["spec"]["root"]["children"]
    lent = next(node for node in nodes if node["name"] == "lent")
    lender = next(node for node in lent["children"] if node["name"] == "lender")
    assert cores(one.claims) == lender["min"]["cpu"] == 4 and cores(one.evicted) == lent["max"]["cpu"] == 8
    assert one.title == "A tenant whose min is 4 cores gets them back from one that has borrowed all 8"


def test_the_title_of_the_preemption_has_the_classes_of_both_sides() -> None:
    one = act("preempt")
    values = {each["metadata"]["name"]: each["value"] for each in settings("PriorityClass")}
    high, low = (pods(job)["priorityClassName"] for job in (one.claims, one.evicted))
    assert f"PriorityClass {high} ({values[high]}) evicts one of {low} ({values[low]})" in one.title
    assert values[high] > values[low]


def test_of_a_story_the_steps_to_its_room_are_told_each_with_the_time_since_the_one_before() -> None:
    life = nominated(queued(), victims=1).then(wire.Dequeued, path=("root", "root/a"), charge={})
    slots = place(life, "c1").now.slots
    life.then(wire.Reserved, cluster="c1", slots=slots, expires_at=life.at + 60 * S)
    life.then(wire.Dispatched, cluster="c1", uid="u-9").then(wire.Running, cluster="c1", text="4 of 4 pods are up")
    told = of_its_room(compose(life.now, life.said)).lines
    assert [line.what for line in told] == ["submitted", "claimed", "nominated", "running"]
    assert [line.after for line in told] == [0, 3 * S, S, 5 * S]
    assert told[0].at == T0
