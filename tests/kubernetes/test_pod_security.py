"""Our verdict on a job is the one that Pod Security admission of a real API server gives on its pods.

The pods are those that the kind's reader derives; that operators make these pods is shown in test_pods_of_operators.
"""

import pytest
from fleet import Api, Json
from own import Own

from fairway.domain.tenancy import Tenancy
from fairway.wire.reasons import Refused
from fairway.workloads import registry
from fairway.workloads.fields import Field, Problems
from fairway.workloads.registry import KINDS
from hostile_pods import every
from pod_flaws import BASELINE, RESTRICTED

LABEL = "pod-security.kubernetes.io/enforce"


@pytest.fixture(scope="module")
def server(own: Own) -> Api:
    """With a namespace for each standard, named after it."""
    api = own.api("hub")
    for level in (BASELINE, RESTRICTED):
        if api.get(f"v1/namespaces/{level}") is None:
            api.create("v1/namespaces", {"metadata": {"name": level, "labels": {LABEL: level}}})
            # No controller runs here that would make it.
            api.create(f"v1/namespaces/{level}/serviceaccounts", {"metadata": {"name": "default"}})
    return api


def derived(manifest: Json) -> list[Json]:
    kind = KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"]
    made = [pod.plain() for pod in kind.pod_templates(Field(manifest, Problems()))]
    return [one for one in made if one["spec"].get("containers")]


def refused_by(server: Api, level: str, pods: list[Json]) -> bool | str:
    """Whether the server lets any of these pods not in; what it says of one that is no pod, which proves nothing."""
    answers = []
    for number, pod in enumerate(pods):
        body = {**pod, "metadata": {**pod["metadata"], "name": f"pod-{number}", "namespace": level}}
        answers.append(server.http.post(f"/api/v1/namespaces/{level}/pods", params={"dryRun": "All"}, json=body))
    for one in answers:
        if one.status_code != 201 and "violates PodSecurity" not in one.text:
            return one.text
    return any(one.status_code == 403 for one in answers)


def refused_by_us(level: str, manifest: Json) -> bool:
    try:
        registry.read(manifest, may=lambda namespace: Tenancy(namespace, level))
    except Refused:
        return True
    return False


@pytest.mark.parametrize("level", [BASELINE, RESTRICTED])
def test_the_verdict_on_every_flaw_of_every_kind_is_that_of_the_api_server(server: Api, level: str) -> None:
    jobs = [(name, made) for name, _, made in every()]
    ours = {name: refused_by_us(level, made) for name, made in jobs}
    theirs = {name: refused_by(server, level, derived(made)) for name, made in jobs}
    assert {name: said for name, said in theirs.items() if said != ours[name]} == {}
    assert {True, False} == set(theirs.values()), "it lets some in, and others not"
