"""What the environment may say, and what is told when a number is none."""

import re
from typing import Any

import pytest

from fairway.placement.scores import Weights
from fairway.process.settings import Settings, from_environment


def test_without_a_word_the_defaults_hold() -> None:
    assert from_environment({}) == Settings()


def test_what_is_empty_is_not_set() -> None:
    """As Compose hands on a variable that nobody has set. No admin namespace at all would be one that nobody wanted."""
    asked = Asked()
    from_environment(asked)
    assert from_environment(dict.fromkeys(asked.names, "")) == Settings()


class Asked(dict[str, str]):
    """An environment without a variable, which notes what it was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def get(self, name: str, default: object = None) -> Any:
        self.names.append(name)
        return default


def test_numbers_are_read() -> None:
    given = {
        "FAIRWAY_SCORE_WEIGHTS": "tightness=5, spread_load=0",
        "FAIRWAY_HTTP_PORT": "8000",
        "FAIRWAY_REPLICAS": "3",
        "FAIRWAY_NODE_GRACE": "1.5",
    }
    read = from_environment(given)
    assert (read.http_port, read.replicas, read.node_grace) == (8000, 3, 1.5)
    assert from_environment({"FAIRWAY_SCORE_WEIGHTS": "tightness=5, spread_load=0"}).weights == Weights(
        tightness=5, spread_load=0
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("FAIRWAY_HTTP_PORT", "http"),
        ("FAIRWAY_HTTP_PORT", "70000"),
        ("FAIRWAY_HTTP_PORT", "-1"),
        ("FAIRWAY_REPLICAS", "0"),
        ("FAIRWAY_REPLICAS", "2.5"),
        ("FAIRWAY_WATCH_SILENCE", "nan"),
        ("FAIRWAY_WATCH_SILENCE", "inf"),
        ("FAIRWAY_NODE_GRACE", "60s"),
        ("FAIRWAY_NODE_GRACE", "0"),
        ("FAIRWAY_VIEWS_DAYS", "0"),
        ("FAIRWAY_VIEWS_MIB", "-1"),
        ("FAIRWAY_VIEWS_SHARE", "0"),
        ("FAIRWAY_VIEWS_SHARE", "101"),
        ("FAIRWAY_VIEWS_SHARE", "half"),
    ],
)
def test_what_is_no_such_number_is_refused_by_its_name(name: str, given: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is '{given}'; set it to a .*number from \d+ to \d+") as refused:
        from_environment({name: given})
    assert "leave it out" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ("tightnes=3", "'tightnes' is no score; the scores are whole_job, scarce_gpu, tightness, "),
        ("tightness", "tightness has the weight ''; give it a whole number from 0 to 1000"),
        ("tightness=-1", "tightness has the weight '-1'; "),
        ("tightness=1001", "tightness has the weight '1001'; "),
        ("tightness=1,tightness=2", "tightness is there twice; give it one weight"),
    ],
)
def test_weights_that_are_none_are_refused_with_the_score(given: str, cause: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"FAIRWAY_SCORE_WEIGHTS: {cause}")) as refused:
        from_environment({"FAIRWAY_SCORE_WEIGHTS": given})
    assert str(refused.value).endswith(", or leave the variable out")


def test_namespaces_are_read() -> None:
    given = {"FAIRWAY_ADMIN_NAMESPACES": "ops", "FAIRWAY_RESERVED_NAMESPACES": "vault, istio-system,"}
    read = from_environment(given).namespaces
    assert (read.admin, read.reserved) == ({"ops"}, {"vault", "istio-system"})
    assert [read.takes_no_job(name) for name in ("vault", "kube-public", "team-a")] == [True, True, False]


@pytest.mark.parametrize("name", ["FAIRWAY_ADMIN_NAMESPACES", "FAIRWAY_RESERVED_NAMESPACES"])
@pytest.mark.parametrize("given", ["Ops", "a,b c", "*", "kube-*", "a;b"])
def test_what_names_no_namespace_is_refused_by_its_name(name: str, given: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} names '.+', which is no name of a namespace; set it to"):
        from_environment({name: given})


def test_admin_namespaces_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^FAIRWAY_ADMIN_NAMESPACES is ' , ', which names no namespace; set it to"):
        from_environment({"FAIRWAY_ADMIN_NAMESPACES": " , "})


KEPT = {"30d": 30 * 86_400, "12h": 43_200, "10m": 600, "600m": 36_000, "0": 0, "": 0}


@pytest.mark.parametrize(("given", "seconds"), KEPT.items())
def test_how_long_manifests_are_kept_is_read(given: str, seconds: int) -> None:
    assert from_environment({"FAIRWAY_MANIFESTS_KEPT": given}).manifests_kept == seconds


@pytest.mark.parametrize("given", ["30", "9m", "1s", "-1d", "1.5d", "30 d", "month", "0d", "1d12h", "٣d"])
def test_what_is_no_such_time_is_refused_by_its_name(given: str) -> None:
    with pytest.raises(ValueError, match=rf"^FAIRWAY_MANIFESTS_KEPT is '{given}'; set it to a time of at least 10m"):
        from_environment({"FAIRWAY_MANIFESTS_KEPT": given})
