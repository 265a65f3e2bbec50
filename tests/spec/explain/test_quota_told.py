"""What is left of a quota is never told as less than nothing, whatever claims keep of it."""

import pytest

from fairway.domain.quota.charge import lacking
from fairway.domain.quota.tree import QuotaNode

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("used", "left"),
    [
        pytest.param(20, "has 4 of 24", id="less is left than is asked for"),
        pytest.param(24, "has 0 of 24", id="nothing is left"),
        pytest.param(36, "has 0 of 24", id="a claim keeps what is on its way out for it"),
    ],
)
def test_what_is_left(used: int, left: str) -> None:
    why = lacking([QuotaNode("root", "root", max={GPU: 24})], {f"root|{GPU}": used}, {GPU: 8})
    assert why is not None
    assert left in why.text
