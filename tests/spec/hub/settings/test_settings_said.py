"""What is said of the hub's settings: in force, refused once per wish, withdrawn, and who gives way to whom."""

import msgspec
import pytest

from fairway.domain.decision import Say
from fairway.wire import fleet
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import CPP, ONE, PP, PROFILE, QUEUE, TREE, VOLCANO_QUEUE, Json, policy, thing, tree

ALL = policy("all")
BAD = hub_object(PP, thing(PP, "all", spec={"resourceSelectors": [{"kind": 7}]}))


def says(one: HubDriver) -> list[str]:
    """Every word on a setting, in order."""
    found = []
    for said in one.record.said.values():
        match message := said.message:
            case fleet.Configured():
                found.append(f"{'withdrawn' if bytes(message.manifest) == b'null' else 'in force'} {message.name}")
            case fleet.ConfigRefused(reasons=reasons):
                found.append(f"{'refused' if reasons else 'no longer refused'} {message.name}")
    return found


def ready(one: HubDriver, of: HubObject) -> tuple[str, str]:
    """Its condition Ready: status and reason."""
    (found,) = [each for each in one.status(of)["conditions"] if each["type"] == "Ready"]
    return found["status"], found["reason"]


def test_a_setting_is_in_force_once_and_says_so() -> None:
    one = HubDriver()
    one.apply(ALL)
    one.run(5_000)
    one.apply(ALL)
    one.run(5_000)
    assert says(one) == ["in force all"]
    assert ready(one, ALL) == ("True", "InForce")
    assert one.hub.verbs() == ["condition"]


def test_a_setting_that_changes_is_in_force_as_it_is_and_one_that_goes_is_withdrawn() -> None:
    one = HubDriver()
    one.apply(ALL)
    one.run(1_000)
    one.apply(policy("all", {"name": "train"}))
    one.run(1_000)
    one.delete(ALL)
    one.run(1_000)
    assert says(one) == ["in force all", "in force all", "withdrawn all"]
    one.run(1_000)
    one.apply(ALL)
    one.run(1_000)
    one.delete(ALL)
    one.run(1_000)
    assert says(one)[3:] == ["in force all", "withdrawn all"], "each time"


def test_a_refused_setting_is_told_so_once_per_wish_and_the_last_good_one_stays() -> None:
    one = HubDriver()
    one.apply(ALL)
    one.run(1_000)
    for _ in range(3):
        one.apply(BAD)
        one.run(1_000)
    assert says(one) == ["in force all", "refused all"]
    assert one.events(BAD) == ["Refused"]
    assert ready(one, BAD)[0] == "False"
    assert one.hub.notes[0][2].endswith("; the last good one stays in force")
    one.apply(ALL)
    one.run(1_000)
    assert says(one)[2:] == ["no longer refused all"], "it was in force all the time"
    assert ready(one, ALL) == ("True", "InForce")


def test_another_mistake_is_another_wish() -> None:
    one = HubDriver()
    one.apply(BAD)
    one.run(1_000)
    one.apply(hub_object(PP, thing(PP, "all", spec={"resourceSelectors": [{"kind": 8}]})))
    one.run(1_000)
    assert says(one) == ["refused all", "refused all"]
    assert one.events(BAD) == ["Refused", "Refused"]


def test_a_field_that_nobody_knows_is_refused_by_name() -> None:
    one = HubDriver()
    wrong = {"root": {**tree().manifest["spec"]["root"], "maxx": {"cpu": "9"}}}
    one.apply(hub_object(TREE, thing(TREE, "t", "kube-system", spec=wrong)))
    one.run(1_000)
    (refused,) = one.said(fleet.ConfigRefused)
    assert [why.field for why in refused.reasons] == ["spec.root.maxx"]
    assert one.said(fleet.Configured) == []


def test_a_policy_that_is_too_large_is_refused_until_it_is_smaller() -> None:
    one = HubDriver()
    large = policy("all", *[{"name": f"job-{number}"} for number in range(40_000)])
    one.apply(large)
    one.run(1_000)
    assert says(one) == ["refused all"]
    one.apply(ALL)
    one.run(1_000)
    assert says(one)[1:] == ["in force all", "no longer refused all"]


def test_a_second_tree_is_taken_when_the_first_goes() -> None:
    one = HubDriver()
    first = tree(name="first")
    second = tree("4", name="second")
    one.apply(first)
    one.run(1_000)
    one.apply(second)
    one.run(1_000)
    assert ready(one, second) == ("False", "AnotherInForce")
    one.delete(first)
    one.run(1_000)
    assert says(one) == [
        "in force first",
        "refused second",
        "withdrawn first",
        "in force second",
        "no longer refused second",
    ]
    assert ready(one, second) == ("True", "InForce")


def test_of_those_that_were_kept_out_the_oldest_comes_next() -> None:
    one = HubDriver()
    trees = [
        hub_object(
            TREE, {**each.manifest, "metadata": {**each.manifest["metadata"], "creationTimestamp": f"2026-01-0{day}"}}
        )
        for day, each in ((1, tree(name="first")), (3, tree(name="young")), (2, tree(name="old")))
    ]
    for each in trees:
        one.apply(each)
        one.run(1_000)
    one.delete(trees[0])
    one.run(1_000)
    assert [name for name in says(one) if name.startswith("in force")] == ["in force first", "in force old"]


def test_a_second_tree_is_taken_when_the_first_went_while_nobody_looked() -> None:
    one = HubDriver()
    one.apply(tree(name="first"))
    one.run(1_000)
    one.apply(tree("4", name="second"))
    one.run(1_000)
    del one.hub.objects[TREE, "kube-system", "first"]
    one.restart()
    one.run(1_000)
    assert says(one)[-3:] == ["withdrawn first", "in force second", "no longer refused second"]


def test_one_name_in_both_groups_is_one_policy_and_the_other_waits() -> None:
    one = HubDriver()
    other = policy("all", {"name": "train"}, kind=ONE)
    one.apply(ALL)
    one.run(1_000)
    one.apply(other)
    one.run(1_000)
    assert ready(one, other) == ("False", "AnotherInForce")
    one.delete(other)
    one.run(1_000)
    assert says(one) == ["in force all", "refused all"], "the one in force is another"
    one.apply(other)
    one.run(1_000)
    one.delete(ALL)
    one.run(1_000)
    assert ready(one, other) == ("True", "InForce")


def test_a_tree_where_a_tenant_might_be_is_refused_and_gives_way_if_it_is_in_force() -> None:
    one = HubDriver()
    misplaced = hub_object(TREE, thing(TREE, "mine", "team-a", spec=tree().manifest["spec"]))
    one.apply(misplaced)
    one.run(1_000)
    assert says(one) == ["refused mine"]
    old = fleet.Configured(kind="ElasticQuotaTree", namespace="team-a", name="mine", manifest=raw(misplaced.manifest))
    before = HubDriver()
    before.record.said["old"] = Say("old", "", old)
    before.hub.put(TREE, misplaced.manifest)
    before.restart()
    before.apply(tree())
    before.run(1_000)
    assert says(before)[-2:] == ["withdrawn mine", "in force elasticquotatree"]


def raw(manifest: Json) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(manifest))


SETTINGS = {
    "a policy of a namespace": ALL,
    "a policy of the fleet": policy("wide", namespace="", kind=f"{CPP}.policy.karmada.io/v1alpha1"),
    "a tree": tree(),
    "a queue": hub_object(QUEUE, thing(QUEUE, "gold", "kube-queue", spec={"queuePolicy": "Round"})),
    "a queue of Volcano": hub_object(VOLCANO_QUEUE, thing(VOLCANO_QUEUE, "gold", "", spec={"weight": 1})),
    "a profile": hub_object(PROFILE, thing(PROFILE, "p", "", spec={"namespaces": ["team-a"]})),
    "a namespace": hub_object(
        "Namespace.v1",
        thing("Namespace.v1", "team-a", "", metadata={"labels": {"fairway.io/pod-security": "baseline"}}),
    ),
}


@pytest.mark.parametrize("given", SETTINGS.values(), ids=list(SETTINGS))
def test_a_process_that_begins_anew_says_nothing_twice_and_withdraws_what_went(given: HubObject) -> None:
    one = HubDriver()
    one.apply(given)
    one.run(1_000)
    assert says(one) == [f"in force {given.name}"]
    for _ in range(2):
        one.restart()
        one.run(1_000)
    assert says(one) == [f"in force {given.name}"]
    del one.hub.objects[given.kind, given.namespace, given.name]
    for _ in range(2):
        one.restart()
        one.run(1_000)
    assert says(one) == [f"in force {given.name}", f"withdrawn {given.name}"]


def test_what_was_put_right_while_nobody_looked_is_no_longer_refused() -> None:
    one = HubDriver()
    one.apply(BAD)
    one.run(1_000)
    one.hub.put(PP, ALL.manifest)
    one.restart()
    one.run(1_000)
    assert says(one) == ["refused all", "in force all", "no longer refused all"]
    assert ready(one, ALL) == ("True", "InForce")


def test_a_refusal_is_told_nobody_again_by_a_process_that_begins_anew() -> None:
    one = HubDriver()
    one.apply(BAD)
    one.run(1_000)
    before = (one.hub.notes, one.status(BAD))
    one.restart()
    one.run(1_000)
    assert (one.hub.notes, one.status(BAD)) == before
    assert {*says(one)} == {"refused all"}
