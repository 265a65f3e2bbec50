"""What nobody may say to an operator, whoever submits it: to Argo's controller, and to Spark's."""

import pytest

from fairway.domain.tenancy.profile import PRIVILEGED, Tenancy
from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds import registry
from tests.cases.argo_rules import NEVER, Never, locks
from tests.cases.good_jobs import workflow
from tests.cases.mark_rules import OWN
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import but
from tests.cases.spark_rules import COMMAND


def names(rule: Never) -> str:
    return rule.name


@pytest.mark.parametrize("level", ["baseline", PRIVILEGED])
@pytest.mark.parametrize("rule", (*NEVER, *COMMAND, *OWN), ids=names)
def test_nobody_may(rule: Never, level: str) -> None:
    with pytest.raises(Refused) as caught:
        registry.read(rule.job, may=lambda name: Tenancy(name, level))
    reason = next(one for one in caught.value.reasons if one.field == rule.field)
    assert reason.code == Code.UNSAFE_POD
    assert rule.says in reason.text
    assert rule.remedy in reason.remedy


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(locks("spec", mutex={"name": "train"}), id="a mutex of its own"),
        pytest.param(
            but(workflow(), "metadata.labels", {"workflows.argoproj.io/controller-instanceid": "mine"}),
            id="which controller",
        ),
        pytest.param(
            but(workflow(), "metadata.annotations", {"workflows.argoproj.io/description": "it trains"}),
            id="a description",
        ),
        pytest.param(locks("spec", mutexes=[{"name": "train", "namespace": "team"}]), id="a mutex that says whose"),
    ],
)
def test_it_is_accepted(job: Json) -> None:
    assert registry.read(job).namespace == "team"
