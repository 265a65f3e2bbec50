"""Policies: entries that name what goes along with the jobs that the same policy selects."""

from typing import Any

import pytest

from fairway.domain.policy_terms import terms
from fairway.wire.policy import Selector
from fairway.wire.spec import CompanionName
from fairway.workloads.companions.named import KINDS, MOST
from fairway.workloads.hub.objects import hub_object
from fairway.workloads.settings.field_effects import without_effect
from fairway.workloads.settings.policies import GROUPS, read_policy
from fairway.workloads.settings.policy_limits import too_large
from tests.spec.workloads.settings.cases import JOB, policy

Json = dict[str, Any]


def entry(kind: str = "ConfigMap", name: str = "settings", **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": kind, **({"name": name} if name else {}), **more}


def with_job(*entries: Json, wide: bool = False) -> Json:
    return policy(wide=wide, resourceSelectors=[JOB, *entries])


@pytest.mark.parametrize("kind", [kind.partition(".")[0] for kind in KINDS])
@pytest.mark.parametrize("group", GROUPS)
def test_what_it_names_is_no_job_and_goes_along(group: str, kind: str) -> None:
    found = read_policy({**with_job(entry(kind, "a")), "apiVersion": group})
    assert [one.kind for one in found.selectors] == ["Job"]
    assert found.companions == (Selector("v1", kind, "team-data", "a"),)
    assert terms(found, "team-data")["policy_companions"] == (CompanionName(kind, "a"),)
    assert without_effect(with_job(entry(kind, "a"))) == ()


@pytest.mark.parametrize(
    ("entries", "namespace", "want"),
    [
        pytest.param([entry()], "team-a", ["settings"], id="without a namespace: that of each job"),
        pytest.param([entry(namespace="team-a")], "team-a", ["settings"], id="of the job's namespace"),
        pytest.param([entry(namespace="team-b")], "team-a", [], id="of another namespace"),
        pytest.param([entry(), entry(namespace="team-a")], "team-a", ["settings"], id="named twice"),
        pytest.param([entry("Deployment")], "team-a", [], id="no kind that goes along"),
        pytest.param([entry(apiVersion="example.com/v1")], "team-a", [], id="of another group"),
        pytest.param(
            [entry(labelSelector={"matchLabels": {"a": "b"}})], "team-a", ["settings"], id="labels beside a name"
        ),
    ],
)
def test_a_cluster_wide_policy_names(entries: list[Json], namespace: str, want: list[str]) -> None:
    found = read_policy(with_job(*entries, wide=True))
    assert [one.name for one in terms(found, namespace)["policy_companions"]] == want


LABELS = {"matchLabels": {"app": "llm"}}


@pytest.mark.parametrize(
    ("entries", "field", "says"),
    [
        pytest.param([entry("Secret", "", labelSelector=LABELS)], "[1].name", "goes by its name", id="by labels"),
        pytest.param([entry("Secret", "")], "[1].name", "goes by its name", id="by its kind alone"),
        pytest.param([entry(name="A_b")], "[1].name", "no object can have such a name", id="no name"),
        pytest.param([entry("ServiceAccount", "default")], "[1].name", "has its own", id="in every namespace"),
    ],
)
def test_what_cannot_be_sent_is_taken_and_named(entries: list[Json], field: str, says: str) -> None:
    manifest = with_job(*entries)
    (one,) = without_effect(manifest)
    assert one.field == f"spec.resourceSelectors{field}"
    assert says in one.text
    assert read_policy(manifest).companions == ()
    kind = f"{manifest['kind']}.{manifest['apiVersion']}"
    assert hub_object(kind, manifest).understood[1] == ()


def test_the_same_of_many_is_one_sentence() -> None:
    (one,) = without_effect(with_job(*(entry(kind, "") for kind in ("ConfigMap", "Secret", "ServiceAccount"))))
    assert str(one).startswith("spec.resourceSelectors[1].name and 2 more (what goes along with a job goes by its name")


def test_a_policy_of_companions_alone_says_that_it_selects_no_job() -> None:
    (one,) = without_effect(policy(resourceSelectors=[entry()]))
    assert one.field == "spec.resourceSelectors"
    assert "it selects no job" in one.text


@pytest.mark.parametrize(
    ("count", "more", "large"),
    [
        pytest.param(MOST, [], False, id="as many as may go along"),
        pytest.param(MOST + 1, [], True, id="one more"),
        pytest.param(MOST, [entry("Secret", "", labelSelector=LABELS)], False, id="one that is sent nowhere"),
        pytest.param(MOST, [entry(namespace="team-a")], True, id="one more of one namespace"),
    ],
)
def test_a_policy_names_so_many_for_one_namespace(count: int, more: list[Json], large: bool) -> None:
    reasons = too_large(with_job(*(entry(name=f"m{number}") for number in range(count)), *more, wide=True))
    assert [one.field for one in reasons] == ["spec.resourceSelectors"] * large
    assert all(f"names {MOST + 1} ConfigMaps" in one.text for one in reasons)


def test_those_of_different_namespaces_do_not_add_up() -> None:
    entries = [entry(name=f"m{number}", namespace=f"team-{number}") for number in range(MOST + 1)]
    assert too_large(with_job(*entries, wide=True)) == ()
