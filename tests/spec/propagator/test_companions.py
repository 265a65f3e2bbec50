"""Companions of a job: put into the member under its anchor before the job is, and gone with it."""

from typing import Any

import pytest

from fairway.domain.decision import Call
from fairway.lab.kubesim.cluster_port import KubesimCluster
from fairway.propagator.companions.member_companions import Along, Companions
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.wire.reasons import Code
from fairway.workloads.companions.named import ACCOUNT, CLAIM, CONFIG_MAP, SECRET
from fairway.workloads.trainjob.written_out import TRAINING_RUNTIME
from tests.spec.propagator.companion_house import ALL, CANARY, KEY, TEAM, House, applied, call, hub, manifest, sent
from tests.support.simulated import JOB

Json = dict[str, Any]


async def test_all_that_the_pods_name_is_in_the_member_before_the_job_and_the_job_takes_it_along() -> None:
    member = House("c1")
    along = await applied(Companions(await hub(), KEY), member, call())
    assert sent(along) == dict.fromkeys(ALL, "")
    assert member.left() == ALL | {"ConfigMap fairway-llm-1-1"}
    assert member.one(SECRET, "db")["data"] == {"password": CANARY}
    assert "secrets" not in member.one(ACCOUNT, "runner")
    assert "volumeName" not in member.one(CLAIM, "scratch")
    writes = [kind for verb, kind in member.asked if verb in ("apply", "create")]
    assert (writes[0], writes[-1]) == (CONFIG_MAP, JOB)
    (owner,) = member.one(CONFIG_MAP, "fairway-llm-1-1")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Job", member.one(JOB, "llm-1")["metadata"]["uid"])
    await member.drop(JOB, TEAM, "llm-1")
    assert member.left() == set()


async def test_what_the_hub_does_not_have_is_taken_to_be_in_the_member() -> None:
    member = House("c1")
    along = await Companions(House("hub"), KEY).send(member, call(), manifest())
    assert (along, member.asked) == (Along(), [])


@pytest.mark.parametrize(
    ("with_hub", "asked", "what"),
    [
        pytest.param(False, call(), manifest(), id="there is no hub"),
        pytest.param(True, call(alone=True), manifest(), id="its policy says that they stay"),
        pytest.param(True, call(companions=False), manifest(), id="it was admitted by a version that sent nothing"),
        pytest.param(True, call(), manifest(containers=[{"name": "main"}]), id="it names nothing"),
    ],
)
async def test_nothing_is_sent_where(with_hub: bool, asked: Call, what: Json) -> None:
    member = House("c1")
    along = await Companions(await hub() if with_hub else None, KEY).send(member, asked, what)
    assert (along, member.asked, member.left()) == (Along(), [], set())


async def test_done_again_it_is_the_same_and_it_counts_what_is_on_the_hub_then() -> None:
    here = await hub()
    member = House("c1")
    companions = Companions(here, KEY)
    await companions.send(member, call(), manifest())  # whoever did this died
    await here.says(CONFIG_MAP, "settings", data={"rate": "2"})
    for _ in range(2):
        assert sent(await applied(companions, member, call())) == dict.fromkeys(ALL, "")
    found = member.one(CONFIG_MAP, "settings")
    assert (found["data"], len(found["metadata"]["ownerReferences"])) == ({"rate": "2"}, 1)


@pytest.mark.parametrize("bound", [False, True], ids=["before its object was applied", "after it"])
async def test_of_an_attempt_that_is_recalled_nothing_is_left(bound: bool) -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await (applied(companions, member, call()) if bound else companions.send(member, call(), manifest()))
    await companions.forget(member, call())
    assert member.left() == set()
    await companions.forget(member, call())


async def test_what_two_attempts_share_goes_with_the_last_of_them() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await applied(companions, member, call("one"))
    await applied(companions, member, call("two"))
    await member.drop(JOB, TEAM, "one")
    assert member.left() == ALL | {"ConfigMap fairway-two-1"}
    await member.drop(JOB, TEAM, "two")
    assert member.left() == set()


@pytest.mark.parametrize("kind", [CONFIG_MAP, SECRET])
async def test_what_the_member_has_of_its_own_counts_and_is_not_touched(kind: str) -> None:
    member = House("c1")
    name = {CONFIG_MAP: "settings", SECRET: "db"}[kind]
    await member.has(kind, name, data={"theirs": "dGhlaXJz"})
    before = member.one(kind, name)
    along = await applied(Companions(await hub(), KEY), member, call())
    assert {one for one, why in sent(along).items() if why} == {f"{kind.partition('.')[0]} {name}"}
    await member.drop(JOB, TEAM, "llm-1")
    assert (member.one(kind, name), len(member.left())) == (before, 1)


async def test_labels_and_a_seal_from_elsewhere_make_nothing_ours() -> None:
    member = House("c1")
    other = House("c2")
    here = await hub()
    await applied(Companions(here, KEY), other, call())
    stolen = other.one(SECRET, "db")["metadata"]
    marks = {name: stolen[name] for name in ("name", "namespace", "labels", "annotations")}
    await KubesimCluster.create(member, SECRET, {"metadata": marks, "data": {"theirs": "eA=="}})
    along = await applied(Companions(here, KEY), member, call())
    assert "of its own" in sent(along)["Secret db"]
    assert member.one(SECRET, "db")["data"] == {"theirs": "eA=="}


async def test_who_writes_to_it_meanwhile_takes_nothing_away() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await applied(companions, member, call("one"))

    async def third() -> None:
        await companions.send(member, call("three"), manifest())

    member.meddle.append(third)
    await applied(companions, member, call("two"))
    owners = [one["name"] for one in member.one(ACCOUNT, "runner")["metadata"]["ownerReferences"]]
    assert sorted(owners) == ["fairway-one-1", "fairway-three-1", "fairway-two-1"]


async def test_one_that_never_stands_still_is_tried_again_later() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await applied(companions, member, call("one"))
    member.refuses["patch", CONFIG_MAP] = ClusterRefused("Conflict", "the object has been modified")
    with pytest.raises(Unreachable, match="changes too fast"):
        await companions.send(member, call("two"), manifest())


async def test_one_that_is_immutable_is_made_anew_and_keeps_its_owners() -> None:
    here = await hub()
    await here.says(CONFIG_MAP, "settings", immutable=True)
    member = House("c1")
    companions = Companions(here, KEY)
    await applied(companions, member, call("one"))
    before = member.one(CONFIG_MAP, "settings")["metadata"]["uid"]
    await here.drop(CONFIG_MAP, TEAM, "settings")
    await here.has(CONFIG_MAP, "settings", data={"rate": "9"}, immutable=True)
    await applied(companions, member, call("two"))
    found = member.one(CONFIG_MAP, "settings")
    assert (found["data"], found["metadata"]["uid"] == before) == ({"rate": "9"}, False)
    assert [one["name"] for one in found["metadata"]["ownerReferences"]] == ["fairway-one-1", "fairway-two-1"]


async def test_one_that_is_on_its_way_out_is_waited_for() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await applied(companions, member, call("one"))
    await member.says(CLAIM, "scratch", metadata={"finalizers": ["kubernetes.io/pvc-protection"]})
    await member.drop(CLAIM, TEAM, "scratch")
    with pytest.raises(Unreachable, match="PersistentVolumeClaim scratch in c1 is still being removed"):
        await companions.send(member, call("two"), manifest())


@pytest.mark.parametrize(
    ("verb", "kind", "want"),
    [
        pytest.param("apply", CONFIG_MAP, ALL, id="anything"),
        pytest.param("create", SECRET, {"Secret db", "Secret pulls"}, id="Secrets"),
    ],
)
async def test_a_member_that_does_not_allow_it_gets_the_job_all_the_same(verb: str, kind: str, want: set[str]) -> None:
    member = House("c1")
    member.refuses[verb, kind] = ClusterRefused("Forbidden", "cannot create")
    along = await applied(Companions(await hub(), KEY), member, call())
    assert {one for one, why in sent(along).items() if "fairway join c1 --renew" in why} == want
    member.refuses["get", CONFIG_MAP] = ClusterRefused("Forbidden", "cannot get")
    await Companions(None, KEY).forget(member, call())


async def test_a_member_that_does_not_allow_what_a_job_is_not_whole_without_does_not_get_it() -> None:
    member = House("c1")
    member.refuses["apply", CONFIG_MAP] = ClusterRefused("Forbidden", "cannot create")
    with pytest.raises(ClusterRefused, match="fairway join c1 --renew"):
        await Companions(None, KEY).send(member, call(), manifest(), {TRAINING_RUNTIME: {"spec": {}}})
    assert member.left() == set()


@pytest.mark.parametrize("kind", [CONFIG_MAP, SECRET])
async def test_the_words_of_an_api_server_about_it_are_passed_on_to_nobody(kind: str) -> None:
    member = House("c1")
    member.refuses["create", kind] = ClusterRefused("Invalid", f"data[password]: Invalid value: {CANARY}")
    with pytest.raises(ClusterRefused) as refused:
        await Companions(await hub(), KEY).send(member, call(), manifest())
    assert (refused.value.code, CANARY in str(refused.value)) == ("Invalid", False)
    assert (refused.value.__cause__, refused.value.__suppress_context__) == (None, True)


async def test_what_is_said_of_it_holds_no_byte_of_a_secret() -> None:
    along = await applied(Companions(await hub(), KEY), House("c1"), call())
    assert CANARY not in repr(along)


@pytest.mark.parametrize("by_hand", [False, True], ids=["it is not there", "it was put there by hand"])
async def test_a_secret_that_would_go_over_the_bus_has_to_be_put_there_by_hand(by_hand: bool) -> None:
    member = House("c1")
    member.refuses["create", SECRET] = ClusterRefused(Code.SECRET_NOT_SENT, "c1 is in pull mode")
    companions = Companions(await hub(), KEY)
    if by_hand:
        await member.has(SECRET, "db", data={})
        await member.has(SECRET, "pulls", data={})
        along = await applied(companions, member, call())
        assert {one for one, why in sent(along).items() if why} == {"Secret db", "Secret pulls"}
        return
    with pytest.raises(ClusterRefused, match="c1 is in pull mode") as refused:
        await companions.send(member, call(), manifest())
    assert refused.value.code == Code.SECRET_NOT_SENT
    await companions.forget(member, call())
    assert member.left() == set()


async def test_an_anchor_that_somebody_else_made_is_refused_and_left() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await member.has(CONFIG_MAP, "fairway-llm-1-1")
    with pytest.raises(ClusterRefused) as refused:
        await companions.send(member, call(), manifest())
    assert refused.value.code == Code.NAME_CONFLICT
    await companions.forget(member, call())
    assert member.left() == {"ConfigMap fairway-llm-1-1"}


async def test_an_anchor_that_goes_while_the_job_is_applied_is_made_anew() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    along = await companions.send(member, call(), manifest())
    await member.drop(CONFIG_MAP, TEAM, "fairway-llm-1-1")
    with pytest.raises(Unreachable, match="went away"):
        await companions.bind(member, call(), along, "u-9")
    await applied(companions, member, call())
    assert member.left() == ALL | {"ConfigMap fairway-llm-1-1"}
