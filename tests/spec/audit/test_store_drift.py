"""What is compared of a store and its record, and what is said of a key that differs."""

from typing import Any

import msgspec
import pytest

from fairway.audit.store_drift import Drift, Key, Value, drift, flat, jobs_of, quota_drift, state_hash, unlike
from fairway.domain.events import row_of
from fairway.domain.quota.charge import Share
from fairway.runtime.record.folding import working_set
from tests.spec.builders.lives import GPU, dequeued, running

MADE = working_set({"llm-1": running().now})
ROWS = flat(MADE)


def test_all_that_a_rebuild_makes_of_a_job_is_compared() -> None:
    assert {table for table, _ in ROWS} == {"jobs", "live", "placed", "names", "ledger/c1"}


def test_the_hash_knows_every_row_its_revision_and_the_use_of_quota_and_no_order() -> None:
    whole = state_hash(ROWS, MADE.quota)
    assert state_hash(dict(reversed(ROWS.items())), {**MADE.quota, "given back": 0}) == whole
    others = [state_hash({**ROWS, key: (rev + 1, data)}, MADE.quota) for key, (rev, data) in ROWS.items()]
    others += [state_hash({k: v for k, v in ROWS.items() if k != key}, MADE.quota) for key in ROWS]
    others.append(state_hash(ROWS, {name: amount + 1 for name, amount in MADE.quota.items()}))
    assert len({whole, *others}) == len(others) + 1


@pytest.mark.parametrize(
    ("made", "there", "want"),
    [
        pytest.param(
            (3, b'{"a":1,"b":2}'), (2, b'{"a":1,"c":3}'), (3, 2, {"b": (2, None), "c": (None, 3)}), id="a row"
        ),
        pytest.param((1, b'"x"'), (1, b'"y"'), (1, 1, {"": ("x", "y")}), id="a row that is one word"),
        pytest.param(None, (1, b"{}"), (None, 1, {}), id="one that the record does not know"),
        pytest.param((1, b"{}"), None, (1, None, {}), id="one that is not there"),
    ],
)
def test_a_difference_has_the_fields_that_differ(
    made: Value | None, there: Value | None, want: tuple[Any, ...]
) -> None:
    assert drift(("jobs", "k"), made, there) == Drift("jobs", "k", *want)


def test_whose_a_key_is_shows_by_what_stands_there_on_either_side() -> None:
    record: dict[Key, Value] = {("names", "t/Job/n"): (1, b'"old"'), ("ledger/c1", "a/2"): (1, b"{}")}
    store: dict[Key, Value] = {("names", "t/Job/n"): (1, b'"new"'), ("clients", "c"): (1, b'["b","sha"]')}
    assert unlike(record, store) == {*record, *store}
    assert jobs_of(unlike(record, store), record, store) == {"old", "new", "a", "b"}


def test_a_counter_that_is_not_the_sum_of_the_charged_jobs_is_told() -> None:
    row = msgspec.json.encode(row_of(dequeued().now))
    used = working_set({"llm-1": dequeued().now}).quota
    (node,) = [name for name in used if name.endswith(GPU)][:1]
    assert quota_drift([row], [], used) == []
    share = msgspec.json.encode(Share(("other",), {"cpu": 2}))
    assert quota_drift([row], [share], {**used, "other|cpu": 2}) == [], "given back, and not heard of yet"
    assert quota_drift([row], [], {**used, node: 1, "other|cpu": 2}) == [
        Drift("quota", "other|cpu", None, None, {"": (0, 2)}),
        Drift("quota", node, None, None, {"": (used[node], 1)}),
    ]
