"""The condition Ready on settings of the hub: written when it changes, and what becomes of writes that do not stay."""

import pytest

from fairway.hub import calls
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import not_taken
from tests.spec.hub.hub_objects import CLASS, PP, policy, thing
from tests.spec.hub.settings.test_settings_said import BAD, ready, says

ALL = policy("all", generation=1)
OTHER = {"type": "Other", "status": "True"}


def test_a_kind_without_a_status_subresource_is_asked_once() -> None:
    one = HubDriver()
    one.hub.refuses["condition"] = not_taken(code=calls.NO_STATUS)
    for name in ("p", "q", "r"):
        one.apply(policy(name))
        one.run(1_000)
    assert one.hub.verbs() == ["condition"]
    assert says(one) == ["in force p", "in force q", "in force r"]


def test_a_condition_that_does_not_stay_is_not_written_again_and_those_of_others_stay() -> None:
    one = HubDriver()
    one.hub.forgetful = True
    given = hub_object(PP, {**ALL.manifest, "status": {"conditions": [OTHER]}})
    for _ in range(3):
        one.apply(given)
        one.run(1_000)
    (call,) = one.hub.asked
    assert [each["type"] for each in call.body.one.manifest["status"]["conditions"]] == ["Other"]
    assert call.body.condition["type"] == "Ready"
    one.hub.forgetful = False
    one.apply(hub_object(PP, {**BAD.manifest, "metadata": {**BAD.manifest["metadata"], "generation": 2}}))
    one.run(1_000)
    assert ready(one, BAD)[0] == "False", "another condition is another write"
    assert OTHER in one.status(BAD)["conditions"]


def test_a_write_onto_another_version_is_looked_at_anew_when_that_is_seen() -> None:
    one = HubDriver()
    one.apply(ALL)
    one.hub.put(PP, ALL.manifest)  # somebody was faster, and the watch has not told of it yet
    one.run(1_000)
    assert "status" not in one.hub.objects[PP, "team-a", "all"]
    one.see([(PP, "team-a", "all")])
    one.run(1_000)
    assert ready(one, ALL) == ("True", "InForce")
    assert one.hub.verbs() == ["condition"] * 2


def test_a_hub_that_is_away_gets_its_conditions_later_and_each_once() -> None:
    one = HubDriver()
    one.hub.away = True
    one.apply(BAD)
    one.run(3_000)
    assert says(one) == ["refused all"]
    one.hub.away = False
    one.run(3_000)
    assert (one.events(BAD), ready(one, BAD)[0]) == (["Refused"], "False")
    count = len(one.hub.asked)
    one.run(30_000)
    assert len(one.hub.asked) == count


NAMED = policy("one", {"name": "train"})
IN_VAIN = hub_object(PP, {**NAMED.manifest, "spec": {**NAMED.manifest["spec"], "activationPreference": "Lazy"}})


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(NAMED, 0, id="nothing is wrong: its jobs say so"),
        pytest.param(IN_VAIN, 1, id="something of it has no effect"),
    ],
)
def test_a_policy_of_named_jobs_is_written_to_only_when_there_is_something_to_say(given: HubObject, want: int) -> None:
    one = HubDriver()
    one.apply(given)
    one.run(1_000)
    assert one.hub.verbs().count("condition") == want


def test_a_policy_of_named_jobs_that_was_wrong_says_when_it_was_put_right() -> None:
    one = HubDriver()
    wrong = hub_object(PP, {**BAD.manifest, "metadata": NAMED.manifest["metadata"]})
    one.apply(wrong)
    one.run(1_000)
    one.apply(NAMED)
    one.run(1_000)
    assert ready(one, NAMED) == ("True", "InForce")


def test_a_priority_class_has_no_status_and_is_told_by_an_event() -> None:
    one = HubDriver()
    one.apply(hub_object(CLASS, {**thing(CLASS, "high", ""), "value": "a lot"}))
    one.run(3_000)
    assert one.hub.verbs() == ["event"]
    assert [reason for _, reason, _ in one.hub.notes] == ["Refused"]


def test_a_restart_writes_no_condition_that_is_there() -> None:
    one = HubDriver()
    one.apply(ALL)
    one.run(1_000)
    one.restart()
    one.run(5_000)
    assert one.hub.verbs() == ["condition"]
