"""queue: a waiting job follows what its policy says now, and what was let go stays as it was."""

import asyncio
from typing import Any

import msgspec
import pytest

from fairway.domain.decision import Decision
from fairway.domain.policy_terms import Changed, within
from fairway.domain.tenancy.profile import Tenancy
from fairway.queue.decide import decide
from fairway.queue.service import service
from fairway.queue.view import QueueBegins
from fairway.queue.wake_ups import FOLLOWERS
from fairway.runtime.metrics import Meter
from fairway.runtime.views.settings import Catalog
from fairway.wire.jobs import Amended
from fairway.wire.policy import Affinity, Placement, Policy, Selector
from fairway.wire.spec import CompanionName
from tests.spec.builders.lives import T0, Life, S
from tests.spec.builders.views import Given, events, gone, heard, of, told, tree, verbs
from tests.spec.builders.waiting import BLOCK, flying, quota, room, waiting

NOW = T0 + 900 * S
TITLE = "PropagationPolicy team-a/llm"
CHANGED = Changed(kind="PropagationPolicy", policy=TITLE)
SOUTH = Placement((Affinity(cluster_names=("south",)),))
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 32}}


def policy(placement: Placement = SOUTH, version: str = "8", **more: Any) -> Policy:
    """What the hub says now of the policy that every job here was admitted under, then at version 7."""
    selectors = (Selector("kubeflow.org/v1", "PyTorchJob", "team-a"),)
    said = Policy("policy.karmada.io/v1alpha1", "PropagationPolicy", "team-a", "llm", selectors, placement)
    return msgspec.structs.replace(said, version=version, **more)


def job(name: str, at: int = 0, **more: Any) -> Life:
    return waiting(name, at, **{"follows": True, "policy_version": "7", **more})


def decided(*lives: Life, now: Policy | None = None, when: Any = CHANGED, **view: Any) -> Decision:
    given: Given = of(*lives, **{"freed": 3, **view})
    given.policies = {TITLE: now or policy()}
    return decide(given, told(when), NOW)


def stuck(name: str, at: int = 0, **more: Any) -> Life:
    """No cluster of its policy had room for it, and none has been freed since."""
    return job(name, at, why=room(), freed=3, **more)


def test_a_job_that_found_no_room_goes_when_its_policy_allows_another_cluster() -> None:
    amended, dequeued = events(decided(stuck("a")))
    assert (amended.verb, amended.spec.placement, amended.spec.policy_version) == ("amended", SOUTH, "8")
    assert (dequeued.verb, dequeued.woken_by, dequeued.rev) == ("dequeued", "settings", amended.rev + 1)


def test_it_is_amended_in_the_step_that_lets_it_go() -> None:
    (step,) = decided(stuck("a")).steps
    assert [say.message.verb for say in step.events] == ["amended", "dequeued"]


@pytest.mark.parametrize(
    ("life", "now"),
    [
        pytest.param(stuck("a"), policy(Placement()), id="nothing changed but its version"),
        pytest.param(stuck("a"), policy(version="6"), id="the job came with a later version"),
        pytest.param(stuck("a", follows=False), policy(), id="the job brought its own policy"),
        pytest.param(stuck("a", policy="PropagationPolicy team-a/other"), policy(), id="another policy"),
        pytest.param(
            stuck("a"), policy(selectors=(Selector("batch/v1", "Job", "team-a"),)), id="it does not select the job now"
        ),
        pytest.param(flying("a", follows=True, policy_version="7"), policy(), id="the job is on its way"),
    ],
)
def test_nothing_is_said(life: Life, now: Policy) -> None:
    assert verbs(decided(life, now=now)) == []


def test_what_its_policy_names_now_goes_along_and_what_went_along_before_is_still_looked_for() -> None:
    secret = Selector("v1", "Secret", "", "db")
    (named, _) = events(decided(stuck("a"), now=policy(companions=(secret,))))
    assert (named.spec.policy_companions, named.spec.companions) == ((CompanionName("Secret", "db"),), True)
    before = stuck("a", companions=True, policy_companions=(CompanionName("Secret", "db"),))
    (none, _) = events(decided(before))
    assert (none.spec.policy_companions, none.spec.companions) == ((), True)


def test_versions_are_compared_as_numbers() -> None:
    assert gone(decided(stuck("a", policy_version="99"), now=policy(version="100"))) == ["a"]
    assert gone(decided(stuck("a", policy_version=""), now=policy(version=""))) == ["a"]


def test_a_policy_that_is_gone_leaves_the_job_what_it_had() -> None:
    given = of(stuck("a"))
    assert verbs(decide(given, told(CHANGED), NOW)) == []


@pytest.mark.parametrize("change", [{"attempts": 9}, {"start_timeout": 9_000}, {"avoid": 9}], ids=str)
def test_every_term_of_a_policy_is_followed(change: dict[str, int]) -> None:
    said = events(decided(job("a", why=quota()), now=policy(Placement(), **change), **FULL))
    assert [one.verb for one in said] == ["amended"]
    assert {name: getattr(said[0].spec, name) for name in change} == change


def test_one_that_quota_holds_back_is_amended_and_goes_on_waiting() -> None:
    assert verbs(decided(job("a", why=quota()), **FULL)) == ["amended"]
    assert verbs(decided(job("a"), **FULL)) == ["amended", "blocked"]


def test_one_behind_the_head_of_a_blocking_queue_is_amended_and_goes_on_waiting_and_says_for_what() -> None:
    decision = decided(stuck("a", follows=False), job("b", 1), queues=BLOCK)
    assert [(one.verb, one.job) for one in events(decision)] == [("amended", "b"), ("blocked", "b")]


def test_what_was_missed_while_the_queue_was_away_is_made_up_for_at_its_start() -> None:
    said = events(decided(job("a", why=quota()), job("b", 1, why=quota()), when=QueueBegins(), **FULL))
    assert [(one.verb, one.job) for one in said] == [("amended", "a"), ("amended", "b")]


def test_a_job_that_was_on_its_way_as_its_policy_changed_goes_again_when_it_comes_back() -> None:
    life = stuck("a")
    given = of(life, freed=3)
    given.queued.found_none("a", 3)
    assert gone(decide(given, heard(life), NOW)) == []
    given.policies = {TITLE: policy()}
    assert verbs(decide(given, heard(life), NOW)) == ["amended", "dequeued"]


def test_many_followers_are_taken_in_pieces() -> None:
    lives = [stuck(f"j{number:04}", number) for number in range(FOLLOWERS + 1)]
    decision = decided(*lives)
    assert len(gone(decision)) == FOLLOWERS
    assert decision.again_in is not None
    assert decided(*lives[:FOLLOWERS]).again_in is None


# The clusters that a namespace may use.
PROFILE = Changed(kind="TenantProfile")


def bound(*clusters: str) -> dict[str, Any]:
    return {"tenancies": {"team-a": Tenancy("team-a", clusters=frozenset(clusters))}}


@pytest.mark.parametrize(
    ("life", "when", "clusters", "want"),
    [
        pytest.param(job("a", why=quota()), CHANGED, ("west",), (), id="a policy that leaves them is followed nowhere"),
        pytest.param(job("a", why=quota()), CHANGED, ("south", "west"), ("south",), id="one within them is followed"),
        pytest.param(
            job("a", why=quota(), follows=False), PROFILE, ("west",), ("west",), id="a policy of its own is bounded too"
        ),
    ],
)
def test_a_waiting_job_stays_within_the_clusters_of_its_namespace(
    life: Life, when: Any, clusters: tuple[str, ...], want: tuple[str, ...]
) -> None:
    (said,) = [one for one in events(decided(life, when=when, **FULL, **bound(*clusters))) if one.verb == "amended"]
    (affinity,) = said.spec.placement.affinities
    assert tuple(sorted({*affinity.cluster_names} - {*affinity.exclude})) == want and affinity.cluster_names


OWN = {"follows": False, "policy": "PropagationPolicy team-a/own"}


@pytest.mark.parametrize("first", [("north",), ("west",)], ids=["to some of its clusters", "to none of them"])
@pytest.mark.parametrize("more", [OWN, {}], ids=["its own policy", "a policy of the hub"])
@pytest.mark.parametrize("then", [(), ("north", "south")], ids=["to all", "to as many as it wants"])
def test_what_was_bound_and_is_not_any_more_may_run_where_its_policy_says_again(
    first: tuple[str, ...], more: dict[str, Any], then: tuple[str, ...]
) -> None:
    both = Placement((Affinity(cluster_names=("north", "south")),))
    life = job("a", why=quota(), placement=both, **{**more, "policy_version": "8"})
    full = {**FULL, "now": policy(both), "when": PROFILE}
    (bounded,) = events(decided(life, **full, **bound(*first)))
    assert bounded.spec.placement != both
    (freed,) = events(decided(life.then(Amended, spec=bounded.spec), **full, **bound(*then)))
    assert (freed.spec.placement, freed.spec.unbounded) == (both, None)


def test_a_job_that_came_while_its_namespace_was_bound_may_run_where_its_policy_says_later() -> None:
    mine = Tenancy("team-a", clusters=frozenset(("north",)))
    both = Placement((Affinity(cluster_names=("north", "south")),))
    life = job("a", why=quota(), **{**OWN, **within(both, mine.clusters)})
    (freed,) = events(decided(life, when=PROFILE, **FULL))
    assert freed.spec.placement == both


def test_what_is_within_them_already_is_no_news() -> None:
    life = job("a", why=quota(), placement=SOUTH, policy_version="8")
    assert verbs(decided(life, when=PROFILE, **FULL, **bound("south"))) == []


class Noted(list[Any]):
    """What a service tells itself."""

    put = list.append


async def test_a_namespaces_labels_concern_no_waiting_job() -> None:
    catalog = Catalog()
    noted = Noted()
    beside = service(catalog, Meter(), []).beside
    assert beside is not None
    task = asyncio.ensure_future(beside(noted))
    await asyncio.sleep(0)
    for tell in catalog.heard:
        tell(Changed(kind="Namespace"))
        tell(PROFILE)
    task.cancel()
    assert noted == [PROFILE]
