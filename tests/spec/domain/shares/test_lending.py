"""What lend limits keep back counts as used above, used or not."""

import pytest

from fairway.domain.quota.lending import kept_back, never_lent
from fairway.domain.quota.tree import QuotaNode
from tests.spec.builders.lives import GPU


def leaf(path: str, least: int, lends: int | None = None) -> QuotaNode:
    limit = {} if lends is None else {"alibabacloud.com/lendlimit": f'{{"{GPU}": {lends}}}'}
    return QuotaNode(path.rpartition("/")[2], path, {GPU: least}, {}, (), limit)


KEEPER = leaf("root/keeper", 16, lends=6)
OTHER = leaf("root/other", 8)
ROOT = QuotaNode("root", "root", {GPU: 24}, {GPU: 24}, (), {}, (KEEPER, OTHER))

CASES = {
    "nothing of ten kept is used": ({}, OTHER, 4, 10),
    "four of ten kept are used": ({f"root/keeper|{GPU}": 4}, OTHER, 4, 6),
    "all that is kept is used": ({f"root/keeper|{GPU}": 12}, OTHER, 4, 0),
    "the keeper itself asks for a part of it": ({}, KEEPER, 4, 6),
    "the keeper itself asks for more": ({}, KEEPER, 14, 0),
}


@pytest.mark.parametrize(("usage", "asker", "gpus", "kept"), CASES.values(), ids=list(CASES))
def test_what_counts_at_the_root(usage: dict[str, int], asker: QuotaNode, gpus: int, kept: int) -> None:
    found = kept_back((ROOT, asker), usage, {GPU: gpus})
    assert found[f"root|{GPU}"] == kept


def test_what_it_claims_counts_as_used_by_the_keeper() -> None:
    assert kept_back((ROOT, OTHER), {f"root/keeper|{GPU}": 2}, {GPU: 4}, {f"root/keeper|{GPU}": 5}) == {
        f"root|{GPU}": 3
    }


def test_what_a_node_below_keeps_counts_at_every_node_above_once() -> None:
    inner = QuotaNode("in", "root/in", {GPU: 16}, {}, (), {}, (leaf("root/in/a", 8, 0), leaf("root/in/b", 8, 4)))
    root = QuotaNode("root", "root", {GPU: 24}, {GPU: 24}, (), {}, (inner, OTHER))
    used = {f"root/in/a|{GPU}": 2, f"root/in|{GPU}": 2}
    assert kept_back((root, OTHER), used, {GPU: 1})[f"root|{GPU}"] == 6 + 4
    below = kept_back((root, inner, inner.children[1]), used, {GPU: 3})
    assert (below[f"root/in|{GPU}"], below[f"root|{GPU}"]) == (6 + 1, 6 + 1)


def test_a_tree_that_keeps_nothing_back_is_not_looked_through() -> None:
    plain = QuotaNode("root", "root", {GPU: 24}, {}, (), {}, (OTHER,))
    assert kept_back((plain, OTHER), {}, {GPU: 1}) == {}


@pytest.mark.parametrize(("asker", "gpus", "refused"), [(OTHER, 14, False), (OTHER, 15, True), (KEEPER, 24, False)])
def test_a_job_that_what_is_kept_leaves_no_room_for_can_never_go(asker: QuotaNode, gpus: int, refused: bool) -> None:
    why = never_lent((ROOT, asker), {GPU: gpus})
    assert (why is not None) is refused
    if why is not None:
        assert why.text == (
            "asks for 15 nvidia.com/gpu, but of the max of quota root, which is 24, 10 are kept by those below that do "
            "not lend it"
        )
