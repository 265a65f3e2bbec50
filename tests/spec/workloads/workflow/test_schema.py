"""A workflow that Argo's controller could not read is refused: one stops the controller for everybody."""

from typing import Any

import pytest

from fairway.workloads.kinds import registry
from tests.cases.good_jobs import workflow
from tests.cases.pod_rules import but, steps
from tests.spec.workloads.builders import refusal
from tests.spec.workloads.workflow import argo_fields

_ONE = "spec.templates.0"
_AT = "spec.templates[0]"


@pytest.mark.parametrize(
    ("path", "value", "field", "wanted"),
    [
        ("spec.dnsConfig", 5, "spec.dnsConfig", "a mapping"),
        ("spec.dnsConfig", {"nameservers": "10.0.0.1"}, "spec.dnsConfig.nameservers", "a list"),
        ("spec.tolerations", {"key": "a"}, "spec.tolerations", "a list"),
        ("spec.affinity", "x", "spec.affinity", "a mapping"),
        ("spec.securityContext", {"runAsUser": "root"}, "spec.securityContext.runAsUser", "a whole number of 64 bits"),
        (
            "spec.volumes",
            [{"name": "v", "emptyDir": {"sizeLimit": "much"}}],
            "spec.volumes[0].emptyDir.sizeLimit",
            "a quantity",
        ),
        ("spec.arguments", [], "spec.arguments", "a mapping"),
        ("spec.suspend", "no", "spec.suspend", "true or false"),
        ("spec.priority", 2**31, "spec.priority", "a whole number of 32 bits"),
        ("spec.activeDeadlineSeconds", 2.5, "spec.activeDeadlineSeconds", "a whole number of 64 bits"),
        ("spec.nodeSelector", {"zone": {}}, "spec.nodeSelector.zone", "a string"),
        (
            "spec.volumeClaimTemplates",
            [{"metadata": {"creationTimestamp": "today"}}],
            "spec.volumeClaimTemplates[0].metadata.creationTimestamp",
            "a time such as",
        ),
        ("spec.podGC", True, "spec.podGC", "a mapping"),
        (
            f"{_ONE}.container.ports",
            [{"containerPort": 2**40}],
            f"{_AT}.container.ports[0].containerPort",
            "a whole number of 32 bits",
        ),
        (f"{_ONE}.container.env", [{"name": "A", "value": 1}], f"{_AT}.container.env[0].value", "a string"),
        (f"{_ONE}.retryStrategy.limit", [], f"{_AT}.retryStrategy.limit", "a whole number or a string"),
        (f"{_ONE}.outputs.artifacts", [{"name": "a", "s3": "bucket"}], f"{_AT}.outputs.artifacts[0].s3", "a mapping"),
        (f"{_ONE}.steps", {"name": "s"}, f"{_AT}.steps", "a list"),
        ("spec.templateDefaults.outputs.parameters", "x", "spec.templateDefaults.outputs.parameters", "a list"),
        ("spec.templateDefaults.metadata", {"labels": []}, "spec.templateDefaults.metadata.labels", "a mapping"),
    ],
    ids=str,
)
def test_a_field_of_another_type_is_refused_by_name(path: str, value: Any, field: str, wanted: str) -> None:
    found = refusal(lambda: registry.read(but(workflow(), path, value)))
    assert field in found
    assert wanted in found[field] or "not a" in found[field]


SIZE = "emptyDir.sizeLimit"
SINCE = "metadata.creationTimestamp"


@pytest.mark.parametrize(
    ("size", "since"),
    [
        ("\u0661Gi", "2026-19-39T29:00:00Z"),
        ("1\uff10", "2026-02-30T08:00:00Z"),
        ("1e\u0663", "2026-01-31T24:00:00Z"),
        ("\u096aMi", "202\u0666-01-31T08:00:00Z"),
        (".\u0665", "2025-02-29T08:00:00Z"),
        ("1Gi\n", "2026-01-31T08:00:00Z\n"),
        ("1_0", "2026-01-31T08:00:00+24:00"),
        ("", "0000-01-01T00:00:00Z"),
    ],
)
def test_digits_of_other_alphabets_and_days_that_no_month_has_are_refused(size: str, since: str) -> None:
    """Go decodes neither, and a Workflow that does not decode stops Argo's controller at its next start."""
    job = but(workflow(), "spec.volumes", [{"name": "v", "emptyDir": {"sizeLimit": size}}])
    assert "a quantity" in refusal(lambda: registry.read(job))[f"spec.volumes[0].{SIZE}"]
    job = but(workflow(), "spec.volumeClaimTemplates", [{"metadata": {"creationTimestamp": since}}])
    assert "a time such as" in refusal(lambda: registry.read(job))[f"spec.volumeClaimTemplates[0].{SINCE}"]


@pytest.mark.parametrize("since", ["2024-02-29T23:59:59Z", "2026-01-31T08:00:00.123456789+05:30"])
def test_a_time_that_there_is_is_accepted(since: str) -> None:
    job = but(workflow(), "spec.volumeClaimTemplates", [{"metadata": {"creationTimestamp": since}}])
    assert registry.read(job).name == "one"


def test_a_step_has_only_fields_that_argo_knows() -> None:
    """It decodes steps more strictly than anything else."""
    job = steps({"name": "all", "steps": [[{"name": "s", "template": "one", "timeout": "1m"}]]})
    assert "not a field of a step" in refusal(lambda: registry.read(job))["spec.templates[1].steps[0][0].timeout"]
    job = steps({"name": "all", "steps": [{"name": "s", "template": "one"}]})
    assert "reads a list" in refusal(lambda: registry.read(job))["spec.templates[1].steps[0]"]


def test_a_field_in_another_case_is_refused_wherever_argo_would_read_it() -> None:
    job = but(workflow(), "spec.DNSConfig", 5)
    assert "is read as dnsConfig" in refusal(lambda: registry.read(job))["spec.DNSConfig"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.arguments.parameters", [{"name": "a", "value": 5, "default": True, "enum": [1, "2"]}]),
        (f"{_ONE}.retryStrategy", {"limit": "{{workflow.parameters.a}}", "backoff": {"duration": "1", "factor": 2}}),
        ("spec.unknown", {"anything": 1}),
        ("spec.volumes", [{"name": "v", "emptyDir": {"sizeLimit": "1.5Gi"}}]),
    ],
    ids=str,
)
def test_what_argo_reads_is_accepted(path: str, value: Any) -> None:
    assert registry.read(but(workflow(), path, value)).name == "one"


@pytest.mark.usefixtures("kubernetes")
def test_the_types_are_those_of_argos_own_schema() -> None:
    assert argo_fields.OUT.read_text() == argo_fields.table()
