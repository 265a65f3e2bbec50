"""PriorityClasses: a number, and whether others are evicted for jobs of it."""

from typing import Any

import pytest

from fairway.workloads.settings.priority_classes import MOST_OF_USERS, read_priority_class
from tests.spec.workloads.builders import refusal


@pytest.mark.parametrize(
    ("body", "want"),
    [
        pytest.param({"value": 9}, 9, id="a value"),
        pytest.param({"value": -9, "preemptionPolicy": "Never"}, -9, id="nobody goes for it"),
        pytest.param({"value": 9, "preemptionPolicy": "PreemptLowerPriority"}, 9, id="those below it go"),
    ],
)
def test_a_class_is_read(body: dict[str, Any], want: int) -> None:
    assert read_priority_class(body) == want


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        pytest.param({}, "value", "is missing", id="no value"),
        pytest.param({"value": MOST_OF_USERS + 1}, "value", "is 1000000001", id="a value of the system"),
        pytest.param({"value": 9, "preemptionPolicy": "never"}, "preemptionPolicy", "is 'never'", id="another word"),
        pytest.param({"value": 9, "preemptionPolicy": False}, "preemptionPolicy", "is false", id="no word"),
    ],
)
def test_a_class_is_refused_by_its_field(body: dict[str, Any], field: str, says: str) -> None:
    assert says in refusal(lambda: read_priority_class(body, MOST_OF_USERS))[field]
