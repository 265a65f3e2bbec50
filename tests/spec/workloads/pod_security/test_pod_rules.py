"""What pods may name only where a TenantProfile lists it, and what cannot be looked at."""

from typing import Any

import pytest

from fairway.domain.tenancy.profile import LEVELS, PRIVILEGED, Tenancy
from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds import registry
from fairway.workloads.kinds.generic import load_generic
from tests.cases.argo_rules import PATCHES
from tests.cases.good_jobs import batch_job, job, ray_job, spark, template, workflow
from tests.cases.mark_rules import HARMLESS, MARKS
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import ANYTHING, RULES, Rule, but, conf
from tests.cases.spark_rules import OPTIONS
from tests.spec.workloads.builders import refusal, work

DECLARED = """
apiVersion: example.org/v1
kind: Elastic
plural: elastics
podSets: [{name: worker, count: [spec.workers], template: [spec.template]}]
podTemplates: [spec.logger]
status: {running: [{condition: Running}]}
"""


def elastic(**spec: Any) -> Json:
    return job("example.org/v1", "Elastic", {"template": template(), **spec})


DECLARED_RULES = (
    Rule(
        "a pod of a declared kind",
        elastic(logger={"spec": {"hostPID": True, "containers": [{}]}}),
        "spec.logger.spec.hostPID",
        "a namespace of the node",
        ANYTHING,
        "TenantProfile spec.podSecurity",
    ),
    Rule(
        "a pod that a declaration does not name",
        elastic(extra=[{"spec": {"containers": [{}]}}]),
        "spec.extra[0].spec",
        "does not name it",
        ANYTHING,
        "TenantProfile spec.podSecurity",
    ),
)

_declared = load_generic(DECLARED)
KINDS = {**registry.KINDS, _declared.key: _declared}
EVERY = (*RULES, *PATCHES, *OPTIONS, *MARKS, *DECLARED_RULES)


def names(rule: Rule) -> str:
    return rule.name


@pytest.mark.parametrize("rule", EVERY, ids=names)
def test_it_is_refused_with_its_field_and_who_could_allow_it(rule: Rule) -> None:
    with pytest.raises(Refused) as caught:
        registry.read(rule.job, KINDS)
    (reason,) = caught.value.reasons
    assert (reason.code, reason.field) == (Code.UNSAFE_POD, rule.field)
    assert rule.says in reason.text
    assert rule.remedy in reason.remedy


@pytest.mark.parametrize("rule", EVERY, ids=names)
def test_it_is_accepted_from_whom_it_is_allowed(rule: Rule) -> None:
    def may(namespace: str) -> Tenancy:
        return Tenancy(namespace, **rule.allowed)

    assert registry.read(rule.job, KINDS, may).namespace == "team"


def test_there_are_enough_of_them() -> None:
    assert len(EVERY) >= 40
    assert len({rule.name for rule in EVERY}) == len(EVERY)


@pytest.mark.parametrize(
    "job",
    [
        *HARMLESS,
        pytest.param(
            but(batch_job(), "spec.template.spec.schedulerName", "koord-scheduler"), id="Koordinator's scheduler"
        ),
        pytest.param(but(batch_job(), "spec.template.spec.serviceAccountName", "default"), id="the default account"),
        pytest.param(
            but(batch_job(), "spec.template.spec.automountServiceAccountToken", False), id="no token, said so"
        ),
        pytest.param(
            but(batch_job(), "spec.template.spec.tolerations", [{"key": "gpu", "operator": "Exists"}]), id="a taint"
        ),
        pytest.param(
            but(spark(), "spec.driver.serviceAccount", "spark-operator-spark"), id="the account of Spark's chart"
        ),
        pytest.param(but(workflow(), "spec.serviceAccountName", "argo-workflow"), id="the account of Argo's chart"),
        pytest.param(
            but(workflow(), "spec.podSpecPatch", "containers: [{name: main, resources: {}}]"), id="a patched size"
        ),
        pytest.param(conf("spark.kubernetes.executor.volumes.emptyDir.d.mount.path", "/d"), id="an empty directory"),
        pytest.param(conf("spark.eventLog.enabled", "true"), id="what Spark itself is told"),
        pytest.param(elastic(), id="a declared kind"),
    ],
)
def test_what_everybody_may(job: dict[str, Any]) -> None:
    assert registry.read(job, KINDS).name == "one"


@pytest.mark.parametrize(
    ("job", "field"),
    [
        pytest.param(
            but(spark(), "spec.driver.template", {"metadata": {"labels": {"fairway.io/job": "theirs"}}, "spec": {}}),
            "spec.driver.template.metadata.labels['fairway.io/job']",
            id="of a template of Spark's",
        ),
        pytest.param(
            but(workflow(), "spec.templateDefaults", {"metadata": {"labels": {"fairway.io/job": "theirs"}}}),
            "spec.templateDefaults.metadata.labels['fairway.io/job']",
            id="of all templates of a workflow",
        ),
        pytest.param(
            but(workflow(), "spec.artifactGC.podMetadata", {"labels": {"fairway.io/job": "theirs"}}),
            "spec.artifactGC.podMetadata.labels['fairway.io/job']",
            id="of who removes artifacts",
        ),
    ],
)
def test_nobody_labels_pods_as_ours(job: dict[str, Any], field: str) -> None:
    for level in LEVELS:
        found = refusal(lambda level=level: registry.read(job, may=lambda name: Tenancy(name, level)))
        assert "only Fairway sets labels" in found[field]


@pytest.mark.parametrize(
    ("job", "field"),
    [
        pytest.param(but(workflow(), "spec.HostNetwork", True), "spec.HostNetwork", id="of a workflow"),
        pytest.param(
            but(workflow(), "spec.templates.0.container.SecurityContext", {"privileged": True}),
            "spec.templates[0].container.SecurityContext",
            id="of a container",
        ),
        pytest.param(
            but(workflow(), "spec.templates.0.container.securityContext.privIleged", True),
            "spec.templates[0].container.securityContext.privIleged",
            id="inside a word",
        ),
        pytest.param(but(workflow(), "spec.ho\u017ftNetwork", True), "spec.ho\u017ftNetwork", id="with a long s"),
        pytest.param(
            but(workflow(), "spec.POD\u017fPECPATCH", "hostPID: true"), "spec.POD\u017fPECPATCH", id="of a patch"
        ),
        pytest.param(elastic(Template={"spec": {}}), "spec.Template", id="of a declared kind"),
    ],
)
def test_a_field_in_another_case_is_refused_where_an_operator_may_read_it(job: dict[str, Any], field: str) -> None:
    """Argo does when a parameter is a number."""
    assert "is read as" in refusal(lambda: registry.read(job, KINDS))[field]


def test_the_service_of_a_head_takes_no_addresses_of_others() -> None:
    job = but(ray_job(), "spec.rayClusterSpec.headGroupSpec.headService", {"spec": {"externalIPs": ["10.0.0.1"]}})
    found = refusal(lambda: registry.read(job))
    assert list(found) == ["spec.rayClusterSpec.headGroupSpec.headService.spec.externalIPs"]
    assert registry.read(job, may=lambda name: Tenancy(name, PRIVILEGED)).name == "one"


def test_a_profile_that_lists_classes_bounds_what_may_be_named() -> None:
    job = but(batch_job(), "spec.template.spec.priorityClassName", "high")
    assert registry.read(job).priority_class == "high"
    bound = refusal(lambda: registry.read(job, may=lambda name: Tenancy(name, priority_classes=frozenset(("low",)))))
    assert bound == {"spec.template.spec.priorityClassName": "takes the PriorityClass 'high'"}


def test_what_all_pods_of_a_workflow_have_in_common_is_looked_at_once() -> None:
    """Each template was looked at with all volumes of the workflow."""

    def cost(templates: int, volumes: int) -> int:
        made = workflow()
        made["spec"]["templates"] += [{"name": f"t{n}", "container": {"image": "x"}} for n in range(templates)]
        made["spec"]["volumes"] = [{"name": f"v{n}", "emptyDir": {}} for n in range(volumes)]
        return work(lambda: registry.read(made))

    assert cost(400, 400) - cost(200, 400) <= 1.1 * (cost(400, 0) - cost(200, 0))
    assert cost(400, 400) <= 2.1 * cost(200, 200)
