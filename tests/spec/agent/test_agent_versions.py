"""Which Kubernetes an agent says that its cluster is, while nodes come, go and are upgraded."""

from typing import Any

import pytest

from fairway.agent.report import Seen

Json = dict[str, Any]
OLD = "v1.9.12-gke.3"
NEW = "v1.34.1"


def node(name: str, version: str) -> Json:
    return {"metadata": {"name": name}, "status": {"nodeInfo": {"kubeletVersion": version}}}


@pytest.mark.parametrize(
    ("then", "want"),
    [
        pytest.param([], OLD, id="the oldest, by number and not by letter"),
        pytest.param([("a", None)], OLD, id="one of two old ones goes"),
        pytest.param([("a", OLD), ("a", None)], OLD, id="one is told twice before it goes"),
        pytest.param([("a", None), ("b", None)], "v1.33.0", id="both go"),
        pytest.param([("a", NEW), ("b", NEW)], "v1.33.0", id="both are upgraded"),
        pytest.param([("a", OLD), ("a", NEW), ("b", "")], "v1.33.0", id="one no longer says"),
        pytest.param([(name, None) for name in "abcd"], "", id="all go"),
    ],
)
def test_the_version_told_is_that_of_the_oldest_kubelet(then: list[tuple[str, str | None]], want: str) -> None:
    seen = Seen()
    for name, version in [("a", OLD), ("b", OLD), ("c", "v1.33.0"), ("d", NEW), *then]:
        seen.node(name, node(name, version) if version is not None else None)
    assert seen.kubernetes == want
