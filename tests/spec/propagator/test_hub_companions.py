"""Companions on the hub: who may have them sent along, and which go nowhere."""

import pytest

from fairway.lab.kubesim.http.identities import Identity, Rule
from fairway.propagator.companions.member_companions import Along, Companions
from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code
from fairway.workloads.companions.named import KINDS, SECRET
from tests.spec.propagator.companion_house import ALL, KEY, TEAM, House, call, hub, manifest, sent

ANN = Actor("ann", "http", "r-1", ("system:authenticated",))


async def test_a_hub_that_lets_nobody_read_sends_nothing() -> None:
    here = await hub()
    here.refuses |= {("get", kind): ClusterRefused("Forbidden", "cannot get") for kind in KINDS}
    assert await Companions(here, KEY).send(House("c1"), call(), manifest()) == Along()


MAY = Rule(("",), ("configmaps", "serviceaccounts", "persistentvolumeclaims"), ("get",), (TEAM,))
EVERY_SECRET = Rule(("",), ("secrets",), ("get",), (TEAM,))
ONE_SECRET = Rule(("",), ("secrets",), ("get",), (TEAM,), ("db",))


@pytest.mark.parametrize(
    ("rules", "want"),
    [
        pytest.param((MAY, EVERY_SECRET), "", id="may read all"),
        pytest.param((MAY,), "ann may not get Secret db of namespace team-a", id="may read no Secret"),
        pytest.param((MAY, ONE_SECRET), "ann may not get Secret pulls", id="may not read one that an account names"),
        pytest.param((EVERY_SECRET,), "ann may not get ServiceAccount runner", id="may read Secrets and nothing else"),
    ],
)
async def test_the_owner_has_to_have_the_right_himself_who(rules: tuple[Rule, ...], want: str) -> None:
    here = await hub(Identity("t", "ann", groups=ANN.groups, rules=rules))
    here.asked.clear()
    member = House("c1")
    companions = Companions(here, KEY)
    if not want:
        assert sent(await companions.send(member, call(who=ANN), manifest())) == dict.fromkeys(ALL, "")
        return
    with pytest.raises(ClusterRefused, match=want) as refused:
        await companions.send(member, call(who=ANN), manifest())
    assert (refused.value.code, member.left()) == (Code.COMPANION_REFUSED, set())
    # What he may not read, nobody has read for him.
    assert ("get", SECRET) not in here.asked or rules != (MAY,)


@pytest.mark.parametrize(
    "who",
    [
        pytest.param(None, id="said by nobody"),
        pytest.param(Actor("hub:team-a", "hub", "u"), id="applied on the hub"),
        pytest.param(Actor("team-a", "bus", "m"), id="a tenant on the bus"),
        pytest.param(Actor("operator", "http", "r"), id="with a key of the gateway's own"),
    ],
)
async def test_where_the_owner_is_not_known_his_namespace_counts(who: Actor | None) -> None:
    here = await hub(Identity("t", "ann"))
    along = await Companions(here, KEY).send(House("c1"), call(who=who), manifest())
    assert sent(along) == dict.fromkeys(ALL, "")


async def test_a_token_of_the_hub_goes_nowhere() -> None:
    here = await hub()
    await here.says(SECRET, "db", type="kubernetes.io/service-account-token")
    with pytest.raises(ClusterRefused, match="Secret db, which holds a token") as refused:
        await Companions(here, KEY).send(House("c1"), call(), manifest())
    assert refused.value.code == Code.COMPANION_REFUSED
