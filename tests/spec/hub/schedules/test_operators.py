"""An operator that names runs by the moment at which it makes them, switched on after Fairway has made runs."""

import pytest

from fairway.hub.schedules.work_due import PATIENCE_MS
from fairway.workloads.hub.objects import HubObject, hub_object
from fairway.workloads.schedules.schedule import millis, stamp
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import T0
from tests.spec.hub.hub_objects import Json, policy, thing
from tests.spec.hub.schedules.test_schedule_status import HOUR, SPARK, WORK, status
from tests.spec.hub.schedules.test_schedules import runs, until

APPLICATION = "SparkApplication.sparkoperator.k8s.io/v1beta2"
PERIOD = 3_600_000
NEXT = HOUR + PERIOD


@pytest.fixture
def hub() -> HubDriver:
    """Fairway has made the first run."""
    one = HubDriver()
    one.apply(policy("all"))
    one.run(1_000)
    one.apply(schedule({}))
    until(one, HOUR + PATIENCE_MS + 1_000)
    assert runs(one, APPLICATION) == [name_at(HOUR)]
    return one


def name_at(at: int) -> str:
    return f"tick-{at * 1_000_000}"


def schedule(shown: Json) -> HubObject:
    meta = {"creationTimestamp": stamp(T0)}
    return hub_object(SPARK, thing(SPARK, "tick", metadata=meta, spec=WORK[SPARK], status=shown))


def operator_runs(one: HubDriver, at: int) -> None:
    """As it does when `nextRun` of the status has come."""
    shown = status(one, SPARK)
    assert millis(shown["nextRun"]) <= at, "to it the run is due"
    head = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication"}
    owner = {**head, "name": "tick", "uid": "u-team-a-tick", "controller": True}
    spec = WORK[SPARK]["template"]
    one.apply(
        hub_object(APPLICATION, thing(APPLICATION, name_at(at), metadata={"ownerReferences": [owner]}, spec=spec))
    )
    told = {"lastRun": stamp(at), "lastRunName": name_at(at), "nextRun": stamp(NEXT + PERIOD)}
    one.apply(schedule({**shown, **told}))


def test_the_run_that_is_due_next_is_the_operators_and_is_not_made_twice(hub: HubDriver) -> None:
    until(hub, NEXT + 300)
    assert runs(hub, APPLICATION) == [name_at(HOUR)], "the operator may have been switched on"
    operator_runs(hub, NEXT + 300)
    until(hub, NEXT + PERIOD + PATIENCE_MS - 1)
    assert runs(hub, APPLICATION) == [name_at(HOUR), name_at(NEXT + 300)]


def test_a_run_that_fairway_made_is_not_due_to_an_operator_that_begins_later(hub: HubDriver) -> None:
    until(hub, NEXT + PATIENCE_MS + 500)
    assert runs(hub, APPLICATION)[-1] == name_at(NEXT)
    assert status(hub, SPARK)["nextRun"] == stamp(NEXT + PERIOD)


def test_where_the_operator_is_switched_off_again_fairway_makes_the_next_run(hub: HubDriver) -> None:
    until(hub, NEXT + 300)
    operator_runs(hub, NEXT + 300)
    until(hub, NEXT + PERIOD + PATIENCE_MS + 500)
    assert runs(hub, APPLICATION)[-1] == name_at(NEXT + PERIOD)
