"""admission: which policies count for a job: the hub's, or one that may come along, in the clusters of its tenant."""

import msgspec
import pytest

from fairway.domain.batch_resources import batch_pod_sets
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.wire.spec import JobSpec
from tests.spec.admission.test_allowed import C2, Json, decided, granted, sent
from tests.spec.admission.test_decide import catalog, manifest, policy, submitted, view

ADMINS = policy("pin", wide=True, clusterAffinity={"clusterNames": ["c1"]})
OTHERS = {**policy("x"), "metadata": {"name": "x", "namespace": "team-b"}}
PINNED = ("PropagationPolicy", "train", policy("train", clusterAffinity={"clusterNames": ["c1"]}))


@pytest.mark.parametrize(
    ("along", "says"),
    [
        pytest.param(policy("pin", wide=True), "ClusterPropagationPolicy pin", id="under the name of an admin's"),
        pytest.param(policy("new", wide=True), "ClusterPropagationPolicy new", id="for the whole fleet"),
        pytest.param(OTHERS, "team-b/x", id="of another namespace"),
        pytest.param(policy("train"), "team-a/train", id="under the name of one that its namespace has on the hub"),
    ],
)
def test_a_policy_that_may_not_come_along_is_refused_by_name(along: Json, says: str) -> None:
    hub = (("ClusterPropagationPolicy", "pin", ADMINS), PINNED, C2)
    said = decided(manifest(), *hub, policies=sent(along))
    assert (said.verb, said.reasons[0].code, said.reasons[0].field) == ("rejected", Code.FORBIDDEN, "policies[0]")
    assert says in said.reasons[0].text and said.reasons[0].remedy


def test_the_hubs_own_policy_in_the_same_words_may_lie_beside_the_job() -> None:
    said = decided(manifest(), ("ClusterPropagationPolicy", "pin", ADMINS), policies=sent(ADMINS))
    assert (said.verb, said.spec.policy, said.spec.follows) == ("admitted", "ClusterPropagationPolicy pin", True)


def test_what_the_hubs_intake_sends_along_is_the_hubs() -> None:
    said = decided(manifest(), policies=sent(ADMINS), hub=wire.HubRef("u-1", "jobs"))
    assert (said.verb, said.spec.follows) == ("admitted", True)


@pytest.mark.parametrize(
    ("placement", "want"),
    [
        pytest.param({}, (("c1",),), id="a policy of all clusters"),
        pytest.param({"clusterAffinity": {"clusterNames": ["c2", "c1"]}}, (("c1",),), id="a policy of more clusters"),
        pytest.param(
            {"clusterAffinities": [{"affinityName": "a", "clusterNames": ["c2"]}, {"affinityName": "b"}]},
            (("c1",),),
            id="a tier of which nothing is left",
        ),
    ],
)
def test_a_policy_counts_within_the_clusters_of_the_profile(placement: Json, want: tuple[tuple[str, ...], ...]) -> None:
    said = decided(manifest(), C2, granted(clusters=["c1"]), policies=sent(policy(**placement)))
    assert tuple(one.cluster_names for one in said.spec.placement.affinities) == want


def test_a_policy_of_which_nothing_is_left_is_refused() -> None:
    only = policy(clusterAffinity={"clusterNames": ["c2"]})
    said = decided(manifest(), C2, granted(clusters=["c1"]), policies=sent(only))
    assert (said.verb, said.reasons[0].code) == ("rejected", Code.FORBIDDEN)
    assert "c1" in said.reasons[0].text


@pytest.mark.parametrize(
    ("names", "bound", "want"),
    [
        pytest.param(["c9"], [], ("c9",), id="nobody of that name is there"),
        pytest.param(["c1", "c9"], [], ("c1", "c9"), id="one of two is there"),
        pytest.param(["c9"], ["c1", "c9"], ("c9",), id="its namespace may use it once it is there"),
    ],
)
def test_a_policy_may_name_a_cluster_that_has_yet_to_join(
    names: list[str], bound: list[str], want: tuple[str, ...]
) -> None:
    along = sent(policy(clusterAffinity={"clusterNames": names}))
    said = decided(manifest(), C2, *([granted(clusters=bound)] if bound else []), policies=along)
    assert (said.verb, said.spec.placement.affinities[0].cluster_names) == ("admitted", want)


def test_whoever_names_a_cluster_that_is_not_theirs_is_told_of_their_own_only() -> None:
    unknown = policy(clusterAffinity={"clusterNames": ["c9"]})
    said = decided(manifest(), C2, granted(clusters=["c1"]), policies=sent(unknown))
    text = said.reasons[0].text
    assert (said.reasons[0].code, "c1" in text, "c2" in text) == (Code.FORBIDDEN, True, False)


def test_policies_that_come_along_are_no_larger_than_the_hub_would_take_them() -> None:
    large = policy()
    large["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["c1"] * 5_001}}
    many = [policy(f"p{number}") for number in range(101)]
    wide = policy()
    wide["metadata"]["annotations"] = {"note": "x" * 2**18}
    for along, field in (((large,), "policies[0].spec"), (many, "policies"), ((wide,), "policies")):
        said = decided(manifest(), policies=sent(*along))
        assert isinstance(said, wire.Rejected)
        assert (said.reasons[0].code, said.reasons[0].field) == (Code.TOO_LARGE, field)
        assert said.reasons[0].remedy


def test_a_field_of_a_policy_along_that_nobody_knows_is_refused_by_name() -> None:
    misspelt = policy(spreadConstraints=[{"maxGroup": 1}])
    said = decided(manifest(), policies=sent(misspelt))
    field = "policies[0].spec.placement.spreadConstraints[0].maxGroup"
    assert [(one.code, one.field) for one in said.reasons] == [(Code.INVALID, field)]


def test_what_the_hub_sent_along_is_taken_as_it_was_taken_there() -> None:
    large = policy()
    large["spec"]["placement"] = {"clusterAffinity": {"exclude": ["c9"] * 5_001}}
    hub = wire.HubRef("u", "jobs")
    assert isinstance(decided(manifest(), policies=sent(large), hub=hub), wire.Admitted)


OF_THE_HUB = ("PropagationPolicy", "all", policy())
# It names the job, and goes before the hub's.
named = policy("own")
named["spec"]["resourceSelectors"][0]["name"] = "train"


def spec(policies: tuple[dict[str, object], ...], hub: wire.HubRef | None = None) -> JobSpec:
    raw = tuple(msgspec.Raw(msgspec.json.encode(one)) for one in policies)
    heard = submitted(policies=raw, hub=hub)
    found = view(heard, catalog(OF_THE_HUB)).understood[heard.id].spec
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("policies", "hub", "want"),
    [
        pytest.param((), None, True, id="the hub's own"),
        pytest.param((policy(),), wire.HubRef("u-1", "jobs"), True, id="a copy of the hub's, with its object"),
        pytest.param((policy(),), None, True, id="the same words came along under its name: it is the hub's"),
        pytest.param((named,), None, False, id="one that came along and that the hub does not have"),
    ],
)
def test_a_job_follows_the_hubs_policy_and_not_its_own(
    policies: tuple[dict[str, object], ...], hub: wire.HubRef | None, want: bool
) -> None:
    assert spec(policies, hub).follows is want


@pytest.mark.parametrize(("room", "want"), [("batch", (True, False)), ("batch,normal", (False, True))])
def test_a_policy_says_on_what_its_jobs_run(room: str, want: tuple[bool, bool]) -> None:
    along = policy()
    along["metadata"]["annotations"] = {"fairway.io/room": room}
    said = decided(manifest(), policies=sent(along))
    work = said.spec.workload
    assert (bool(batch_pod_sets(work)), work.batch_first) == want


def test_a_policy_that_says_so_refuses_what_would_stay_cpu_in_a_member() -> None:
    along = policy()
    along["metadata"]["annotations"] = {"fairway.io/room": "batch"}
    whole = manifest()
    whole["spec"]["template"]["spec"]["resources"] = {"requests": {"cpu": "1"}}
    said = decided(whole, policies=sent(along))
    assert (said.verb, [one.field for one in said.reasons]) == ("rejected", ["spec.template.spec.resources"])
    assert decided(whole, policies=sent(policy())).verb == "admitted"
