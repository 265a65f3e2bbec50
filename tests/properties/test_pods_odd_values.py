"""Whatever stands anywhere in a manifest: it is refused with reasons or read, and never lets its reader fall."""

from copy import deepcopy
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.tenancy.profile import LEVELS, Tenancy
from fairway.wire.reasons import Reason, Refused
from fairway.workloads.kinds import registry
from fairway.workloads.member_copy import member_copy
from fairway.workloads.pod_security import baseline, tenant
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, Problems
from tests.cases.derived_pods import plain_pod
from tests.cases.good_jobs import batch_job
from tests.cases.hostile_pods import SITES

ODD = st.sampled_from(
    [None, True, 0, -1, 2.5, "", "x", "{{x}}", [], [[]], [None], {}, {"x": {}}, [{"name": []}], "é" * 9]
)
FIELDS = (
    "securityContext",
    "volumes",
    "containers",
    "initContainers",
    "tolerations",
    "serviceAccountName",
    "schedulerName",
    "nodeName",
    "hostNetwork",
    "sidecars",
    "podSpecPatch",
    "hooks",
    "executor",
    "artifactGC",
    "plugins",
    "sparkConf",
    "template",
    "annotations",
    "capabilities",
    "seccompProfile",
    "env",
    "ports",
    "metadata",
    "priorityClassName",
    "runtimeClassName",
    "automountServiceAccountToken",
    "resource",
    "inline",
    "templateRef",
    "steps",
    "dag",
    "plugin",
    "templateDefaults",
    "inputs",
    "arguments",
    "secrets",
    "podMetadata",
    "sysctls",
    "projected",
    "livenessProbe",
)


def holders(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) else []) + [one for each in inner for one in holders(each)]


def loud(made: dict[str, Any]) -> list[Reason]:
    """What the rules say of pods that are passed over because they say nothing."""
    problems = Problems()
    kind = registry.KINDS[f"{made['kind']}.{made['apiVersion']}"]
    for pod in kind.pod_templates(Field(made, Problems())):
        if pod.quiet():
            described = Pod(partial(moved, pod, problems))
            tenant.check(described, ruling := Ruling(Tenancy("team")), kind.schedulers)
            baseline.check(described, ruling)
    return problems.reasons


def moved(pod: Pod, problems: Problems) -> tuple[PodView, PodView]:
    """The same pod, with what is wrong in it noted elsewhere."""
    plain = plain_pod(pod)
    return PodView(Field(plain["metadata"], problems)), PodView(Field(plain["spec"], problems))


def test_a_plain_pod_is_passed_over() -> None:
    """Or the rules would be asked about each job."""
    made = batch_job()
    pods = registry.KINDS["Job.batch/v1"].pod_templates
    assert [pod.quiet() for pod in pods(Field(made, Problems()))] == [False]
    made["spec"]["template"]["spec"]["containers"][0].pop("securityContext")
    assert [pod.quiet() for pod in pods(Field(made, Problems()))] == [True]


@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.kind} {site.role}")
@given(data=st.data())
def test_an_odd_value_anywhere_is_read_or_refused(site: Any, data: st.DataObject) -> None:
    made = site.job()
    for holder in holders(made["spec"]) if data.draw(st.booleans()) else ():
        holder.pop("securityContext", None)
    for _ in range(data.draw(st.integers(1, 3))):
        holder = data.draw(st.sampled_from(holders(made["spec"]) or [made]))
        key = data.draw(st.sampled_from((*FIELDS, *holder)))
        holder[key] = deepcopy(data.draw(ODD))
    assert loud(made) == []
    level = data.draw(st.sampled_from(LEVELS))
    try:
        work = registry.read(made, may=lambda namespace: Tenancy(namespace, level))
    except Refused as error:
        assert error.reasons and all(one.text and one.remedy for one in error.reasons)
        return
    assert member_copy(made, "j", 1)["metadata"]["name"] == work.name
