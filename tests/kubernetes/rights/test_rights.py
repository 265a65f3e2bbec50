"""What is granted is needed, and what is needed is granted: on the hub and in members, for every kind of job and every
way to hold room.

Counted in the audit logs of API servers with RBAC; then everything else that they serve is tried.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from tests.kubernetes.rights import rbac
from tests.kubernetes.rights.fleet import ACCOUNTS, MEMBERS, RENEWERS, RightsHouse, rights_house
from tests.kubernetes.rights.jobs import along, applied, edited, in_pod_groups, lives, scheduled, submitted, unheard
from tests.kubernetes.rights.rbac import Right
from tests.kubernetes.rights.settings import SETTINGS, SETTINGS_KINDS
from tests.kubernetes.support import kinds
from tests.kubernetes.support.authority import shown
from tests.kubernetes.support.fleet import Api, condition
from tests.kubernetes.support.in_pod import POD, in_pod
from tests.kubernetes.support.kinds import Json

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RightsHouse]:
    async with rights_house(tmp_path_factory.mktemp("rights")) as found:
        yield found


async def test_every_kind_and_both_ways_to_hold_room_need_all_rights_of_the_member_and_no_others(
    place: RightsHouse,
) -> None:
    await place.join("--reserve", "auto")
    await place.reported()
    granted = rbac.granted(place.north, MEMBERS)
    await lives(place, "lives")
    await edited(place, "edited")
    await unheard(place, "unheard")
    await in_pod_groups(place, "grouped")
    await along(place, "along")
    await place.holds_room("placed", "placeholders")
    await place.holds_room("reserved", "reservations")
    assert await place.raises("raised") == "baseline"
    tokens = {place.home.token("north"), place.home.token("north", "renewal")}
    assert await place.renewed() == ["north"]
    assert not tokens & {place.home.token("north"), place.home.token("north", "renewal")}

    # One that is there already is looked at, whenever a job is applied twice (contract/propagator/test_gangs.py).
    counts = {one for one in granted if (one.resource, one.verb) != ("podgroups", "get")}
    assert await counted(counts, place.asked) == ""
    assert rbac.allowed(place.north, place.home.token("north"), granted) == []


async def test_only_the_account_that_renews_may_ask_for_tokens_and_it_may_nothing_else(place: RightsHouse) -> None:
    await place.join("--reserve", "ledger")
    account = f"system:serviceaccount:{rbac.HOME}:{RENEWERS}"
    assert await place.renewed() == ["north"]
    assert await place.renewed() == ["north"]  # with the token that it has just given itself
    granted = rbac.granted(place.north, RENEWERS)
    assert {(one.resource, one.verb, one.namespace) for one in granted} == {
        ("serviceaccounts/token", "create", rbac.HOME),
    }
    assert await counted(granted, lambda: place.home.asked("north", account)) == ""
    assert rbac.allowed(place.north, place.home.token("north", "renewal"), granted) == []
    assert "serviceaccounts/token" not in {one.resource for one in rbac.granted(place.north, MEMBERS)}


async def counted(rights: set[Right], asked: Callable[[], list[Json]]) -> str:
    """The rights that nobody needed, once it is none or after half a minute; and what was asked beyond them. The
    profile for batch resources is asked for only where nodes have some, and these have none (tests/spec/agent)."""
    rights = {one for one in rights if one.resource != "clustercolocationprofiles"}
    end = asyncio.get_running_loop().time() + 30
    while rbac.idle_and_astray(rights, asked())[0] and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.2)
    idle, astray = rbac.idle_and_astray(rights, asked())
    return "\n".join([*(f"not needed: {one}" for one in sorted(idle)), *(f"asked: {one}" for one in sorted(astray))])


def ready(place: RightsHouse, namespace: str, name: str) -> str:
    path = f"policy.karmada.io/v1alpha1/namespaces/{namespace}/propagationpolicies/{name}"
    return condition(place.hub.get(path), "Ready")


async def test_a_cluster_that_joins_for_the_ledger_alone_gives_no_rights_to_hold_room_there(
    place: RightsHouse,
) -> None:
    place.hub.create("scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 77})
    await place.join("--labels", "gpu=none", "--kinds", "Job.batch/v1", "--reserve", "ledger")
    await place.reported()
    row = (await place.home.clusters())["north"]
    assert (row["mode"], row["labels"]) == ("push", {"gpu": "none"})
    granted = rbac.granted(place.north, MEMBERS)
    makes = {(one.group, one.resource, one.namespace) for one in granted if one.verb == "create"}
    assert not makes & set(WAYS.values())

    assert await place.raises("plain-raised") == "baseline"
    place.tenant("plain", kinds.policy("here", "north"))
    await place.runs("plain", "short", priority="urgent")
    made = place.north.get("scheduling.k8s.io/v1/priorityclasses/urgent") or {}
    assert (made["value"], made["preemptionPolicy"]) == (77, "Never")
    assert await place.renewed() == ["north"]
    await place.runs("plain", "renewed")
    await edited(place, "plain-edited", BATCH)
    await along(place, "plain-along")
    for name in ("short", "renewed"):
        place.hub.delete(f"batch/v1/namespaces/plain/jobs/{name}")
    await place.until(lambda: not place.north.items("batch/v1/namespaces/plain/jobs"), "nothing is left in the member")

    assert await counted(of_batch(granted), lambda: place.asked(without=OTHERS)) == ""
    assert rbac.allowed(place.north, place.home.token("north"), granted) == []


WAYS = {"placeholders": ("", "pods", rbac.HOME), "reservations": ("scheduling.koordinator.sh", "reservations", "")}
# The others are counted in the test above.
BATCH = [kind for kind in kinds.every() if kind.key in ("Job.batch/v1", "Pod.v1")]
OTHERS = {version.partition("/")[0] for version, _ in kinds.SERVED} - {"batch", "v1"}


@pytest.mark.parametrize("way", WAYS)
async def test_a_cluster_that_joins_for_one_way_holds_room_in_that_way_and_gives_no_rights_for_another(
    place: RightsHouse, way: str
) -> None:
    await place.join("--reserve", way)
    await place.reported()
    granted = rbac.granted(place.north, MEMBERS)
    assert await place.raises(f"raised-{way}") == "baseline"
    pods = await place.holds_room(f"only-{way}", way)
    assert [one["metadata"]["labels"]["fairway.io/hold"] for one in pods] == [way, way]
    await place.until(lambda: not place.held(), "what held room is gone")
    await edited(place, f"edited-{way}", BATCH)
    await along(place, f"along-{way}")
    assert await counted(of_batch(granted), lambda: place.asked(without=OTHERS)) == ""
    assert created(place) & set(WAYS.values()) == {WAYS[way]}
    assert rbac.allowed(place.north, place.home.token("north"), granted) == []


def of_batch(rights: set[Right]) -> set[Right]:
    return {one for one in rights if one.group not in OTHERS}


def created(place: RightsHouse) -> set[tuple[str, str, str]]:
    """Groups, resources and namespaces of what Fairway's account made in the member."""
    refs = [one["objectRef"] for one in place.asked() if one["verb"] == "create"]
    return {(ref.get("apiGroup", ""), ref["resource"], ref.get("namespace", "")) for ref in refs}


async def test_a_pod_beside_a_member_works_with_the_account_of_its_manifest_and_needs_all_its_rights(
    place: RightsHouse,
) -> None:
    """As deploy/member/pull.yaml has it: the token is bound to the pod that the Deployment made."""
    await place.join("--mode", "pull", "--reserve", "placeholders")
    beside = await in_pod(place)
    try:
        await place.reported()
        granted = rbac.granted(place.north, MEMBERS)
        assert "serviceaccounts/token" not in {one.resource for one in granted}
        assert await place.raises("far-raised", beside.token) == "baseline"
        pods = await place.holds_room("far", "placeholders")
        assert [one["metadata"]["labels"]["fairway.io/hold"] for one in pods] == ["placeholders"] * 2
        await place.until(lambda: not place.held(), "what held room is gone")
        await edited(place, "far-edited", BATCH)
        await along(place, "far-along", by_hand=True)
        assert [beside.answers(path) for path in beside.probes] == [200, 200]
        assert await counted(of_batch(granted), lambda: place.asked(without=OTHERS)) == ""
        assert rbac.allowed(place.north, beside.token, granted) == []
        assert {one["user"]["extra"][POD][0] for one in place.asked()} == {beside.pod}
    finally:
        await beside.stop()


async def test_a_certificate_that_is_renewed_by_the_same_authority_is_none_of_fairways_business(
    place: RightsHouse,
) -> None:
    await place.join("--reserve", "ledger")
    await place.reported()
    place.tenant("trusting", kinds.policy("here", "north"))
    await place.runs("trusting", "before")
    token = place.home.token("north")
    plane = place.home.planes["north"]
    serial = place.authority.issue()
    await plane.programs["kube-apiserver"].kill()
    await plane.start_api()
    assert shown(plane.port) == serial
    await place.runs("trusting", "after")
    assert place.home.token("north") == token
    jobs = await place.home.jobs()
    assert [(jobs[name]["attempt"], jobs[name]["cluster"]) for name in ("before", "after")] == [(1, "north")] * 2


async def test_the_services_need_all_their_rights_on_the_hub_and_no_others(place: RightsHouse) -> None:
    """A job of every kind lives, another is refused; settings are made by hand and over HTTP, one of them is wrong."""
    granted = {name: rbac.granted(place.hub, name) for name in ACCOUNTS}
    await place.join("--reserve", "ledger")
    await place.reported()
    await lives(place, "hub-lives")
    await scheduled(place, "hub-schedules")
    await along(place, "hub-along")
    await submitted(place, "hub-along")
    place.tenant("lost", kinds.policy("one", "north"), kinds.policy("other", "north"))  # equal: jobs are refused
    for kind in kinds.every():
        applied(place, "lost", kind)
    wrong = kinds.policy("wrong", "north", start_timeout="soon")
    place.tenant("spare", wrong)
    await place.post(*SETTINGS)
    await place.until(lambda: ready(place, "spare", "wrong") == "False", "the wrong setting is said to be wrong")
    assert await place.renewed() == ["north"]
    await place.leave()

    for name, path in place.least.items():
        # As kubeconfig.sh does it, with the kubeconfig that it printed the time before.
        renewed = Api("hub", path)
        renewed.create(f"v1/namespaces/fairway-system/serviceaccounts/{name}/token", {})
        renewed.http.close()

        needed = {one for one in granted[name] if not (name == "fairway-hub" and _for_kinds_without_status(one))}
        assert await counted(needed, lambda name=name: place.asked_hub(name)) == "", name
        token = json.loads(path.read_text())["users"][0]["user"]["token"]
        assert rbac.allowed(place.hub, token, granted[name]) == [], name


def _for_kinds_without_status(right: Right) -> bool:
    """Needed where the definitions are not those of deploy/crds, such as Karmada's own."""
    return right.verb == "patch" and right.resource in SETTINGS_KINDS
