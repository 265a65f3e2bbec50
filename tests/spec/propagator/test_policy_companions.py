"""What a job's policy names goes along like what its pods name: by the same rights, and gone with the attempt."""

from typing import Any

import pytest

from fairway.domain.decision import Call
from fairway.lab.kubesim.http.identities import Identity, Rule
from fairway.propagator.calls import copy_of
from fairway.propagator.companions.member_companions import Companions
from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code
from fairway.wire.spec import CompanionName
from fairway.workloads.companions.named import CONFIG_MAP, SECRET
from tests.spec.propagator.companion_house import KEY, TEAM, House, applied, call, hub, manifest, sent
from tests.spec.propagator.test_decide import reserved

Json = dict[str, Any]
ANN = Actor("ann", "http", "r-1", ("system:authenticated",))
SPARK = "SparkApplication.sparkoperator.k8s.io/v1beta2"
# Its pods name nothing.
PLAIN = manifest(containers=[{"name": "main"}])


def names(*ones: str, **more: Any) -> Call:
    """Each as `Kind name`."""
    return call(policy_companions=tuple(CompanionName(*one.split()) for one in ones), **more)


@pytest.mark.parametrize(
    ("asked", "what", "want"),
    [
        pytest.param(names("ConfigMap settings"), PLAIN, {"ConfigMap settings"}, id="what its pods do not name"),
        pytest.param(
            names("Secret pulls"),
            manifest(containers=[{"name": "m", "envFrom": [{"secretRef": {"name": "db"}}]}]),
            {"Secret db", "Secret pulls"},
            id="beside what its pods name",
        ),
        pytest.param(names("Secret db", alone=True), manifest(), {"Secret db"}, id="alone where its pods' stay behind"),
        pytest.param(
            names("ServiceAccount runner"), PLAIN, {"ServiceAccount runner", "Secret pulls"}, id="with pull Secrets"
        ),
        pytest.param(names("PersistentVolumeClaim scratch"), PLAIN, {"PersistentVolumeClaim scratch"}, id="a claim"),
        pytest.param(names("Secret nobodys"), PLAIN, set(), id="what the hub does not have"),
    ],
)
async def test_a_job_takes_along(asked: Call, what: Json, want: set[str]) -> None:
    member = House("c1")
    along = await applied(Companions(await hub(), KEY), member, asked, what)
    assert sent(along) == dict.fromkeys(want, "")
    assert member.left() == want | ({"ConfigMap fairway-llm-1-1"} if want else set())


async def test_of_an_attempt_that_is_recalled_nothing_is_left() -> None:
    member = House("c1")
    companions = Companions(await hub(), KEY)
    await companions.send(member, names("ConfigMap settings"), PLAIN)
    assert member.one(CONFIG_MAP, "settings")
    await companions.forget(member, names("ConfigMap settings"))
    assert member.left() == set()


async def test_an_account_of_a_kind_whose_pods_need_its_rights_stays_and_the_story_says_why() -> None:
    member = House("c1")
    asked = names("ServiceAccount runner", "ConfigMap settings", kind=SPARK)
    along = await Companions(await hub(), KEY).send(member, asked, {"spec": {}})
    told = sent(along)
    assert told["ConfigMap settings"] == ""
    assert "pods of a SparkApplication need the rights of their account" in told["ServiceAccount runner"]
    assert "ServiceAccount runner" not in member.left()


@pytest.mark.parametrize("may", [True, False], ids=["he may get it", "he may not"])
async def test_whoever_submitted_it_over_http_has_to_have_the_right_himself(may: bool) -> None:
    rules = (Rule(("",), ("secrets",), ("get",), (TEAM,)),) if may else ()
    here = await hub(Identity("t", "ann", groups=ANN.groups, rules=rules))
    here.asked.clear()
    member = House("c1")
    companions = Companions(here, KEY)
    if may:
        assert sent(await companions.send(member, names("Secret db", who=ANN), PLAIN)) == {"Secret db": ""}
        return
    with pytest.raises(ClusterRefused) as refused:
        await companions.send(member, names("Secret db", who=ANN), PLAIN)
    assert refused.value.code == Code.COMPANION_REFUSED
    assert str(refused.value).endswith("may not get Secret db of namespace team-a on the hub, which its policy names")
    assert ("get", SECRET) not in here.asked
    assert member.left() == set()


def test_the_call_has_what_the_specification_says() -> None:
    job = reserved(companions=True, policy_companions=(CompanionName("Secret", "db"),)).now
    assert copy_of(job).policy_companions == (CompanionName("Secret", "db"),)
