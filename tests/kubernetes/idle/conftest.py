"""A member with Koordinator's webhook for pods and with Spark's. In it is what `fairway join` makes for idle resources:
a class of priority, and the profile by which pods on batch resources are known."""

import pytest

from fairway.lab.kubereal.control_plane import Spec
from fairway.lab.kubereal.operators import start
from fairway.lab.kubereal.operators.koordinator import API_FLAGS
from tests.kubernetes.idle.member import MEMBER, NAMESPACE, Idle, profile
from tests.kubernetes.support.own import Own, node

_OPERATORS = ("koordinator-webhook", "spark-webhook")
_NODES = 2


@pytest.fixture(scope="session")
def idle(own: Own) -> Idle:
    plane = own.do(own.begun(Spec(MEMBER, controllers=True, kubelets=True, api_flags=API_FLAGS)))
    api = own.api(MEMBER)
    for number in range(_NODES):
        api.create("v1/nodes", node(f"{MEMBER}-{number}"))
    own.do(start(plane, _OPERATORS, plane.tools))
    found = Idle(own, plane, api)
    api.create("v1/namespaces", {"metadata": {"name": NAMESPACE}})
    profile(api)
    return found
