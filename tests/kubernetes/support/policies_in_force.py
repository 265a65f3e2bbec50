"""Waiting until a member's API server holds Fairway's account to every one of its policies.

An API server heeds policies one after another, a moment after they were applied: that one of them refuses says nothing
of the others.
"""

import time
from typing import Any

from fairway.join import rights
from fairway.join.member_policies import PREFIX, USER
from tests.kubernetes.support.fleet import Api

Json = dict[str, Any]
_RBAC = "rbac.authorization.k8s.io/v1"
_VOLCANO = "scheduling.volcano.sh/v1beta1"
_KOORDINATOR = "scheduling.koordinator.sh/v1alpha1"
# Everything is authorized by the group, so that only admission can refuse; dry runs, so that nothing is made.
_ASKED_AS = {"Impersonate-User": USER, "Impersonate-Group": "system:masters"}
_DRY = {"dryRun": "All"}


def _named(**more: Any) -> Json:
    return {"metadata": {"name": "fairway-tries"}, **more}


# An API server heeds what was applied within a second or two, where it has a processor.
_MOST_S = 60.0
_POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}
_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_OWNERS = [{"labelSelector": {"matchLabels": {"no": "body"}}}]
_RESERVATION = _named(apiVersion=_KOORDINATOR, kind="Reservation", spec={"template": {"spec": _POD}, "owners": _OWNERS})
# By policy: where to create what, that it alone refuses.
_REFUSED = {
    "namespaces": ("/api/v1/namespaces", _named()),
    "bindings": (f"/apis/{_RBAC}/namespaces/default/rolebindings", _named(roleRef=_ROLE)),
    "jobs": ("/apis/batch/v1/namespaces/default/jobs", _named(spec={"template": {"spec": _POD}})),
    "pods": ("/api/v1/namespaces/default/pods", _named(spec=_POD)),
    "companions": ("/api/v1/namespaces/default/configmaps", _named()),
    "classes": ("/apis/scheduling.k8s.io/v1/priorityclasses", _named(value=1)),
    "queues": (f"/apis/{_VOLCANO}/queues", _named(apiVersion=_VOLCANO, kind="Queue", spec={"weight": 9})),
    "reservations": (f"/apis/{_KOORDINATOR}/reservations", _RESERVATION),
}


def until_in_force(member: Api) -> None:
    """`member` is an administrator's client; the policies are those that every join applies. A policy of a kind that is
    not served there has nothing to refuse."""
    applied = [one["metadata"]["name"] for one in rights.objects() if one["kind"] == "ValidatingAdmissionPolicy"]
    assert applied == [f"{PREFIX}-{name}" for name in _REFUSED], "every policy needs an example of what it refuses"
    for name, (path, body) in _REFUSED.items():
        if member.get(path) is not None:
            _until_refused(member, path, body, f"ValidatingAdmissionPolicy '{PREFIX}-{name}'")


def _until_refused(member: Api, path: str, body: Json, policy: str) -> None:
    end = time.monotonic() + _MOST_S
    while policy not in (said := _answer(member, path, body)):
        assert time.monotonic() < end, f"not in force within {_MOST_S:.0f} s: {policy}; it was said: {said or 'done'}"
        time.sleep(0.1)


def _answer(member: Api, path: str, body: Json) -> str:
    answer = member.http.post(path, params=_DRY, headers=_ASKED_AS, json=body)
    return "" if answer.is_success else str(answer.json().get("message", answer.text))
