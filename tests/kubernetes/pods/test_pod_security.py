"""Our verdict on a job is the one that Pod Security admission of a real API server gives on its pods.

The pods are those that the kind's reader derives; that operators make these pods is shown in test_pods_of_operators.
"""

import json

import pytest

from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Refused
from fairway.workloads.kinds import registry
from tests.cases.derived_pods import derived
from tests.cases.hostile_pods import every
from tests.cases.pod_flaws import BASELINE, RESTRICTED
from tests.kubernetes.support.fleet import Api, Json
from tests.kubernetes.support.own import Own

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


class Asked:
    """A server's verdicts on pods. Most kinds make the same pods of the same template, which are asked for once."""

    def __init__(self, server: Api, level: str) -> None:
        self._server = server
        self._level = level
        self._said: dict[str, bool | str] = {}

    def refuses(self, pods: list[Json]) -> bool | str:
        """Whether it lets any of them not in; what it says of one that is no pod, which proves nothing."""
        said = [self._verdict(pod) for pod in pods]
        return next((one for one in said if isinstance(one, str)), any(said))

    def _verdict(self, pod: Json) -> bool | str:
        text = json.dumps(pod, sort_keys=True)
        if text not in self._said:
            body = {**pod, "metadata": {**pod["metadata"], "name": "one", "namespace": self._level}}
            path = f"/api/v1/namespaces/{self._level}/pods"
            answer = self._server.http.post(path, params={"dryRun": "All"}, json=body)
            meant = answer.status_code == 201 or "violates PodSecurity" in answer.text
            self._said[text] = answer.status_code != 201 if meant else answer.text
        return self._said[text]


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
    asked = Asked(server, level)
    theirs = {name: asked.refuses(derived(made)) for name, made in jobs}
    assert {name: said for name, said in theirs.items() if said != ours[name]} == {}
    assert {True, False} == set(theirs.values()), "it lets some in, and others not"
