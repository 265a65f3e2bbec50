"""How much a tenant may submit: whose limits are whose, and how they are kept."""

from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.submission_limits import (
    NONE,
    Allotment,
    Limits,
    SubmissionPace,
    limit_for,
    limits,
    too_fast,
    too_many,
)
from fairway.wire.reasons import Code

NOW = 1_700_000_000_000
PENDING = "fairway.io/max-pending"
RATE = "fairway.io/max-submit-rate"


def leaf(name: str, **attributes: str) -> QuotaNode:
    return QuotaNode(name, f"root/{name}", namespaces=(f"team-{name}", f"more-{name}"), attributes=attributes)


def test_the_nearest_node_that_says_something_counts() -> None:
    children = (leaf("a"), leaf("b", **{PENDING: "5"}), leaf("c", **{RATE: "2"}))
    tree = QuotaNode("root", "root", attributes={PENDING: "100"}, children=children)
    found = limits(tree)
    assert found["team-a"] == found["more-a"] == Limits(pending=100)
    assert (found["team-b"], found["team-c"]) == (Limits(pending=5), Limits(100, 2))


def test_who_is_in_no_leaf_has_the_limits_of_the_root() -> None:
    """Each of its jobs is refused for its quota, and stands in the record: without a limit for ever more of them."""
    children = (leaf("a"), leaf("b", **{PENDING: "5", RATE: "9"}))
    found = limits(QuotaNode("root", "root", attributes={RATE: "2"}, children=children))
    assert [limit_for(name, found) for name in ("nobody", "team-a", "team-b")] == [
        Limits(rate=2),
        Limits(rate=2),
        Limits(5, 9),
    ]
    assert limit_for("nobody", limits(QuotaNode("root", "root", children=children))) == NONE


def test_without_a_word_nobody_is_limited() -> None:
    assert limits(None) == limits(QuotaNode("root", "root", children=(leaf("a"),))) == {}
    assert too_many("team-a", Limits(), 1_000_000_000) is None


def test_the_last_place_can_be_taken_and_no_more() -> None:
    assert too_many("team-a", Limits(pending=5), 4) is None
    why = too_many("team-a", Limits(pending=5), 5)
    assert why is not None
    assert (why.code, why.text) == (Code.TOO_MANY_PENDING, "5 jobs of team-a are pending, and 5 may be")
    assert too_fast("team-a", Limits(rate=3)).text == "more than 3 jobs a second were submitted for team-a"


class Rate(Allotment):
    """Of a second, each submission asked for and taken."""

    def __init__(self) -> None:
        super().__init__(1_000)

    def ask(self, tenant: str, most: int, now: int) -> int:
        wait_ms = self.wait(tenant, most, 1, now)
        if not wait_ms:
            self.take(tenant, most, 1, now)
        return wait_ms


def test_a_pace_lets_a_second_s_worth_go_at_once_and_then_one_at_a_time() -> None:
    pace = Rate()
    assert [pace.ask("a", 10, NOW) for _ in range(11)] == [0] * 10 + [100]
    assert pace.ask("b", 10, NOW) == 0, "another tenant"
    assert pace.ask("a", 10, NOW + 99) == 1
    assert [pace.ask("a", 10, NOW + 100) for _ in range(2)] == [0, 100]
    assert [pace.ask("a", 10, NOW + 5_000) for _ in range(11)] == [0] * 10 + [100]


def test_over_a_long_time_no_more_than_the_rate_goes() -> None:
    pace = Rate()
    gone = sum(pace.ask("a", 7, NOW + at) == 0 for at in range(0, 60_000, 3))
    assert 7 * 60 <= gone <= 7 * 61


def test_a_slow_rate_lets_one_go_each_second() -> None:
    pace = Rate()
    assert [pace.ask("a", 1, NOW + at) for at in (0, 0, 999, 1_000)] == [0, 1_000, 1, 0]


def test_without_a_rate_nothing_is_counted() -> None:
    pace = Rate()
    assert {pace.ask("a", 0, NOW) for _ in range(100)} == {0}


def test_tenants_that_were_quiet_are_forgotten() -> None:
    pace = Rate()
    for number in range(25_000):
        assert pace.ask(f"t{number}", 1, NOW + number) == 0
    assert len(pace.used) <= 10_001


HOUR = 3_600_000
MIB = 1 << 20


def test_of_bytes_an_hour_s_worth_goes_at_once_and_comes_back_by_the_time() -> None:
    pace = SubmissionPace()
    limit = Limits(bytes=4 * MIB)
    assert [pace.refusal("a", limit, MIB, NOW) for _ in range(4)] == [None] * 4
    refused = pace.refusal("a", limit, MIB, NOW)
    assert refused is not None
    assert (refused.why.code, refused.wait_ms) == (Code.TOO_MANY_BYTES, HOUR // 4)
    assert "1048576 bytes more are beyond the 4194304 that a may submit in an hour" in refused.why.text
    assert pace.refusal("b", limit, MIB, NOW) is None, "another tenant"
    assert pace.refusal("a", limit, MIB, NOW + HOUR // 4 - 1) is not None
    assert pace.refusal("a", limit, MIB, NOW + HOUR // 4) is None
    assert pace.refusal("a", limit, 1, NOW + HOUR // 4) is not None


def test_what_is_refused_for_its_bytes_takes_nothing_of_the_rate_and_the_other_way_round() -> None:
    pace = SubmissionPace()
    limit = Limits(rate=2, bytes=2 * MIB)
    assert pace.refusal("a", limit, 2 * MIB, NOW) is None
    for _ in range(5):
        assert pace.refusal("a", limit, MIB, NOW).why.code is Code.TOO_MANY_BYTES
    assert pace.jobs.wait("a", 2, 1, NOW) == 0
    pace.jobs.take("a", 2, 1, NOW)
    later = NOW + HOUR
    assert pace.refusal("a", limit, 1, later) is None
    assert pace.refusal("a", limit, 1, later) is None
    assert pace.refusal("a", limit, 1, later).why.code is Code.TOO_FAST
    assert pace.bytes.wait("a", limit.bytes, 2 * MIB - 2, later) == 0


def test_what_is_larger_than_an_hour_s_bytes_waits_for_all_of_them_and_goes() -> None:
    pace = SubmissionPace()
    limit = Limits(bytes=MIB)
    assert pace.refusal("a", limit, 3 * MIB, NOW) is None
    assert pace.refusal("a", limit, 1, NOW) is not None
    assert pace.refusal("a", limit, 3 * MIB, NOW + HOUR) is None


def test_when_a_limit_is_lifted_nobody_waits_for_what_was_taken_under_it() -> None:
    pace = SubmissionPace()
    assert pace.refusal("a", Limits(rate=1, bytes=MIB), MIB, NOW) is None
    earlier = NOW - 2 * HOUR  # of a process whose clock is behind
    assert pace.refusal("a", Limits(rate=1, bytes=MIB), 1, earlier) is not None
    assert pace.refusal("a", NONE, MIB, earlier) is None


def test_a_copy_counts_by_itself() -> None:
    pace = SubmissionPace()
    limit = Limits(rate=1, bytes=MIB)
    assert pace.copy().refusal("a", limit, MIB, NOW) is None
    assert pace.refusal("a", limit, MIB, NOW) is None
    assert pace.copy().refusal("a", limit, MIB, NOW) is not None
