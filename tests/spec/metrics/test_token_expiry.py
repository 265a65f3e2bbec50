"""When the tokens of joined clusters end: read once, told at each scrape, and of those that are members alone."""

import base64
from typing import Any

import msgspec

from fairway.join.secret import Joined
from fairway.process.members.enrolment import Enrolment
from fairway.process.settings import Settings
from fairway.process.telemetry.token_expiry import TokenExpiry
from fairway.runtime.views.members import Facts

NAME = "fairway_member_token_expiry_timestamp_seconds"


def kubeconfig(ends: int | None) -> dict[str, Any]:
    claims = {"sub": "system:serviceaccount:fairway:fairway", "iat": 1_000, **({"exp": ends} if ends else {})}
    payload = base64.urlsafe_b64encode(msgspec.json.encode(claims)).decode().rstrip("=")
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example:6443"}}],
        "users": [{"name": "c", "user": {"token": f"e30.{payload}.sig"}}],
    }


def joined(name: str, ends: int | None, version: str = "1") -> Joined:
    return Joined(name, Facts(), kubeconfig(ends), f"fairway-cluster-{name}", version)


def test_each_joined_cluster_has_the_end_of_its_token_as_long_as_it_is_one() -> None:
    enrolment = Enrolment(Settings())
    source = TokenExpiry(enrolment)
    enrolment.secrets |= {"a": joined("a", 5_000), "lasting": joined("lasting", None), "pull": Joined("pull", Facts())}
    assert list(source()) == [(NAME, ("a",), 5_000)]
    enrolment.secrets["a"] = joined("a", 9_000, version="2")
    assert list(source()) == [(NAME, ("a",), 9_000)]
    enrolment.secrets["b"] = Joined("b", Facts(), {"users": 5}, "fairway-cluster-b", "1")
    assert list(source()) == [(NAME, ("a",), 9_000)]
    del enrolment.secrets["a"]
    assert list(source()) == []
