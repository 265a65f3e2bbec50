"""The hub service is killed while people apply, edit, suspend and delete: nothing is lost, nothing is done twice."""

from collections.abc import Callable
from typing import Any

from fairway.process.pipeline import HUB
from tests.kubernetes.hub.fleet import MEMBER, HubFleet
from tests.kubernetes.hub.objects import BINDINGS, Applied, all_of, fairway, is_true
from tests.kubernetes.support.fleet import in_namespace, until
from tests.kubernetes.support.tries import job, policy

Json = dict[str, Any]
TOO_MANY = 500
SECOND = "hub-2"


class Crowd:
    """Jobs of one namespace, by name, under one policy."""

    def __init__(self, fleet: HubFleet, place: str) -> None:
        self.fleet = fleet
        self.place = place
        self.ones: dict[str, Applied] = {}
        everybody = policy(job("Job", place, "everybody"), MEMBER)
        del everybody["spec"]["resourceSelectors"][0]["name"]
        fleet.hub.apply(everybody)

    def apply(self, *names: str, pods: int = 1, run_for: str = "200ms") -> dict[str, Applied]:
        made = []
        for name in names:
            one = job("Job", self.place, name, run_for=run_for)
            one["spec"] |= {"parallelism": pods}
            del one["spec"]["completions"]
            made.append(one)
        self.fleet.hub.apply(*made)
        new = {one["metadata"]["name"]: Applied(self.fleet, one) for one in made}
        self.ones |= new
        return new

    def submitted(self) -> dict[str, int]:
        """How often each name was: as many jobs as there are of it, each with one word of it."""
        return {
            name: sum(self.words(row["id"]).count("submitted") for row in one.rows()) for name, one in self.ones.items()
        }

    def words(self, id: str) -> list[str]:
        return [line["what"] for line in self.fleet.asked(f"/{id}/story")["lines"]]


def spec(**fields: Any) -> Callable[[Json], None]:
    return lambda body: body["spec"].update(fields)


def once(one: Applied) -> bool:
    told = one.told()
    return sorted(set(told)) == sorted(told)


def test_killed_while_jobs_are_applied_edited_suspended_and_deleted_it_loses_and_repeats_nothing(
    kept: HubFleet, place: str
) -> None:
    crowd = Crowd(kept, place)
    ended = crowd.apply("before-1", "before-2")
    stays, leaves, ends = crowd.apply("stays", "leaves", "ends", run_for="never").values()
    grown, gone = crowd.apply("grown", "gone", pods=TOO_MANY, run_for="never").values()
    all_of({one.name: one for one in (stays, leaves, ends)}, Applied.runs, "it runs")
    all_of({one.name: one for one in (grown, gone)}, lambda one: is_true(one.on_hub, "Suspended"), "it waits")

    kept.kill_hub()
    ended |= crowd.apply("away-1", "away-2", "away-3")
    grown.change(spec(parallelism=1))
    leaves.change(spec(suspend=True))
    ends.delete()
    try:
        kept.start_hub()
        until(crowd.ones["away-1"].rows, "it takes up what came meanwhile")
        kept.kill_hub()
        gone.delete()
        ended |= crowd.apply("again-1", "again-2", pods=2)
    finally:
        kept.start_hub()
    ended |= crowd.apply("after-1")

    all_of(ended, Applied.ended_well, "it has run")
    all_of({"grown": grown, "stays": stays}, Applied.runs, "it runs")
    all_of({"ends": ends, "gone": gone}, lambda one: one.row()["state"] == "cancelled", "it is cancelled")
    all_of({"leaves": leaves}, lambda one: one.lacks("Suspended") and not one.is_in(), "it is taken out")
    leaves.change(spec(suspend=False))
    until(leaves.runs, "it runs again")
    nothing_is_there_twice(crowd, ended, {"ends", "gone"}, leaves)


def nothing_is_there_twice(crowd: Crowd, ended: dict[str, Applied], gone: set[str], twice: Applied) -> None:
    """Neither a job, nor an attempt, nor an Event; but for the attempts of one that was taken out by its owner."""
    assert crowd.submitted() == dict.fromkeys(crowd.ones, 1)
    others = {name: one for name, one in crowd.ones.items() if one is not twice}
    assert {name for name, one in others.items() if one.row()["attempt"] > 1} == set()
    all_of(ended, lambda one: "Succeeded" in one.told(), "its last Event is told")
    assert {name for name, one in others.items() if not once(one)} == set()
    assert {name for name, one in others.items() if "held" in one.verbs()} == set()
    bindings = crowd.fleet.hub.items(in_namespace(BINDINGS, crowd.place))
    assert {one["metadata"]["name"].removesuffix("-job") for one in bindings} == set(crowd.ones) - gone
    # Ends with 1 where the store is not what the record says, or a rule was broken.
    fairway(crowd.fleet, "audit", "verify")


def test_of_two_hub_services_one_works_and_the_other_takes_over_when_it_dies(kept: HubFleet, place: str) -> None:
    crowd = Crowd(kept, place)
    kept.add_hub(SECOND)
    try:
        until(lambda: kept.asks_the_store(SECOND), "the second has come up")
        ones = crowd.apply("beside-1", "beside-2")
        all_of(ones, Applied.ended_well, "it has run beside the second")
        assert not kept.works(SECOND)
        kept.kill_hub()
        ones |= crowd.apply("alone-1", "alone-2")
        all_of(ones, Applied.ended_well, "it has run with the second alone")
        until(lambda: kept.works(SECOND), "the second works")
    finally:
        if not kept.lives(HUB):
            kept.add_hub(HUB)
        kept.end_hub(SECOND)
    ones |= crowd.apply("third-1")
    all_of(ones, Applied.ended_well, "it has run with the first, started anew")
    until(lambda: kept.works(HUB), "the first works again")
    assert crowd.submitted() == dict.fromkeys(crowd.ones, 1)
    all_of(ones, lambda one: "Succeeded" in one.told(), "its last Event is told")
    assert [one.name for one in ones.values() if not once(one)] == []
