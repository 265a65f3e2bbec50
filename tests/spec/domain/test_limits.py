"""How much a tenant may submit: whose limits are whose, and how they are kept."""

from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.submission_limits import NONE, Limits, SubmissionRate, limit_for, limits, too_fast, too_many
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


def test_a_pace_lets_a_second_s_worth_go_at_once_and_then_one_at_a_time() -> None:
    pace = SubmissionRate()
    assert [pace.wait("a", 10, NOW) for _ in range(11)] == [0] * 10 + [100]
    assert pace.wait("b", 10, NOW) == 0, "another tenant"
    assert pace.wait("a", 10, NOW + 99) == 1
    assert [pace.wait("a", 10, NOW + 100) for _ in range(2)] == [0, 100]
    assert [pace.wait("a", 10, NOW + 5_000) for _ in range(11)] == [0] * 10 + [100]


def test_over_a_long_time_no_more_than_the_rate_goes() -> None:
    pace = SubmissionRate()
    gone = sum(pace.wait("a", 7, NOW + at) == 0 for at in range(0, 60_000, 3))
    assert 7 * 60 <= gone <= 7 * 61


def test_a_slow_rate_lets_one_go_each_second() -> None:
    pace = SubmissionRate()
    assert [pace.wait("a", 1, NOW + at) for at in (0, 0, 999, 1_000)] == [0, 1_000, 1, 0]


def test_without_a_rate_nothing_is_counted() -> None:
    pace = SubmissionRate()
    assert {pace.wait("a", 0, NOW) for _ in range(100)} == {0}


def test_tenants_that_were_quiet_are_forgotten() -> None:
    pace = SubmissionRate()
    for number in range(25_000):
        assert pace.wait(f"t{number}", 1, NOW + number) == 0
    assert len(pace.used) <= 10_001
