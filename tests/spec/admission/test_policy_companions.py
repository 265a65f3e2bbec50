"""admission: what the one policy that selects a job names to go along with it."""

from typing import Any

import pytest

from fairway.wire.spec import CompanionName
from tests.spec.admission.test_allowed import Json, decided, sent
from tests.spec.admission.test_decide import manifest, policy


def naming(name: str, *names: str, wide: bool = False, **spec: Any) -> Json:
    one = policy(name, wide=wide)
    one["spec"]["resourceSelectors"] += [{"apiVersion": "v1", "kind": "ConfigMap", "name": each} for each in names]
    one["spec"] |= spec
    return one


@pytest.mark.parametrize(
    ("policies", "want"),
    [
        pytest.param([naming("a")], (), id="none"),
        pytest.param([naming("a", "x", "y")], ("x", "y"), id="two"),
        pytest.param(
            [naming("a", "x"), naming("b", "y", wide=True)], ("x",), id="not those of a policy that gives way"
        ),
        pytest.param([naming("a", "x", propagateDeps=False)], ("x",), id="also where its pods' stay where they are"),
    ],
)
def test_a_job_has_those_of_the_policy_that_selects_it(policies: list[Json], want: tuple[str, ...]) -> None:
    hub = ((one["kind"], one["metadata"]["name"], one) for one in policies)
    said = decided(manifest(), *hub, policies=())
    assert said.verb == "admitted"
    assert said.spec.policy_companions == tuple(CompanionName("ConfigMap", name) for name in want)
    assert said.spec.companions is bool(want)


def test_a_policy_that_came_along_names_as_one_of_the_hub_does() -> None:
    said = decided(manifest(), policies=sent(naming("own", "x")))
    assert (said.spec.follows, said.spec.policy_companions) == (False, (CompanionName("ConfigMap", "x"),))
