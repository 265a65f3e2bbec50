"""A job is refused for what its pods ask of the node they run on, wherever its kind lets it say so."""

from typing import Any

import pytest

from fairway.domain.tenancy.profile import LEVELS, Tenancy
from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds import registry
from tests.cases.good_jobs import batch_job
from tests.cases.hostile_pods import SITES, every
from tests.cases.pod_flaws import BASELINE, NEVER, RESTRICTED

EVERY = list(every())


def verdict(manifest: dict[str, Any], level: str) -> tuple[Any, ...]:
    try:
        registry.read(manifest, may=lambda namespace: Tenancy(namespace, level))
    except Refused as error:
        return error.reasons
    return ()


@pytest.mark.parametrize("level", LEVELS)
def test_every_flaw_of_every_kind_is_refused_where_its_standard_forbids_it_and_nowhere_else(level: str) -> None:
    forbidden = {"privileged": (), BASELINE: (BASELINE,), RESTRICTED: (BASELINE, RESTRICTED)}[level]
    found = {name: bool(verdict(made, level)) for name, _, made in EVERY}
    assert found == {name: breaks in forbidden for name, breaks, _ in EVERY}
    assert len(EVERY) > 900


def test_every_kind_has_a_place_that_is_spoiled() -> None:
    """Here, and where a real API server is asked about the same pods."""
    jobs = [site.job() for site in SITES]
    assert {f"{job['kind']}.{job['apiVersion']}" for job in jobs} == set(registry.KINDS)


def test_each_reason_names_its_field_the_standard_and_who_can_allow_it() -> None:
    for name, breaks, made in EVERY:
        reasons = verdict(made, RESTRICTED)
        assert len({one.field for one in reasons}) == len(reasons), name
        assert bool(reasons) == (breaks != NEVER), name
        for one in reasons:
            assert one.code is Code.UNSAFE_POD
            assert one.field.startswith(("spec.", "metadata.annotations") if made["kind"] == "Pod" else "spec."), name
            assert "the Pod Security Standard" in one.text
            assert "TenantProfile spec.podSecurity" in one.remedy and "fairway.io/pod-security" in one.remedy


def test_a_namespace_without_labels_or_profile_is_at_baseline() -> None:
    manifest = batch_job()
    manifest["spec"]["template"]["spec"]["hostPID"] = True
    with pytest.raises(Refused) as caught:
        registry.read(manifest)
    (reason,) = caught.value.reasons
    assert reason.field == "spec.template.spec.hostPID"
    assert reason.text == "hostPID shares a namespace of the node; the Pod Security Standard baseline forbids it"
