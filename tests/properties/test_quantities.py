"""Quantities, names and sizes, whatever comes: never negative, never drifting, never an unexpected error."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.resources import LARGEST, add, describe, fits, parse_quantity, scale, show
from fairway.wire.reasons import Refused
from fairway.workloads.kinds import registry
from fairway.workloads.reading.names import is_label_value, is_name, is_namespace
from fairway.workloads.reading.pods import largest, pod_requests

SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 2**40), max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.integers(0, 8000), st.sampled_from(sorted(SUFFIXES)))
def test_a_whole_number_with_a_suffix_is_exact(number: int, suffix: str) -> None:
    assert parse_quantity("memory", f"{number}{suffix}") == number * SUFFIXES[suffix]
    assert parse_quantity("cpu", f"{number}{suffix}") == number * SUFFIXES[suffix] * 1000


@given(st.decimals(0, 10**6, places=6))
def test_a_fraction_is_rounded_up_never_down(number: Decimal) -> None:
    milli = parse_quantity("cpu", f"{number:f}")
    assert 0 <= milli - number * 1000 < 1


@given(json_values)
def test_any_value_is_a_quantity_or_a_sentence(value: Any) -> None:
    try:
        amount = parse_quantity("cpu", value)
    except ValueError as error:
        assert ";" in str(error)
        assert len(str(error)) < 300
    else:
        assert 0 <= amount <= LARGEST


@pytest.mark.parametrize("text", ["", " ", "-1", "1e99", "0x10", "1 Gi", "1gi", "NaN", "1.2.3", "9" * 70, True, None])
def test_what_is_no_quantity_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=";"):
        parse_quantity("memory", text)


@given(amounts, amounts)
def test_fitting_is_what_is_left_being_not_negative(need: dict[str, int], free: dict[str, int]) -> None:
    left = add(free, need, times=-1)
    assert fits(need, free) == all(amount >= 0 for amount in left.values())


@given(amounts, st.integers(0, 1000))
def test_scaling_is_adding_many_times(one: dict[str, int], times: int) -> None:
    assert scale(one, times) == add(dict.fromkeys(one, 0), one, times)


@given(amounts)
def test_a_description_names_what_is_there(one: dict[str, int]) -> None:
    text = describe(one)
    assert all((f"{show(name, amount)} {name}" in text) == bool(amount) for name, amount in one.items())


containers = st.lists(amounts, max_size=4)
inits = st.lists(st.tuples(amounts, st.booleans()), max_size=4)


@given(containers, inits)
def test_a_pod_is_at_least_each_of_its_moments(
    main: list[dict[str, int]], before: list[tuple[dict[str, int], bool]]
) -> None:
    total = pod_requests(main, before)
    running: dict[str, int] = {}
    for one in main + [amount for amount, sidecar in before if sidecar]:
        running = add(running, one)
    assert largest(total, running) == total
    for one, _ in before:
        assert largest(total, one) == total
    assert all(amount >= 0 for amount in total.values())
    assert add(total, {}) == pod_requests(main[::-1], before)


@given(st.text(max_size=80))
def test_a_name_that_passes_is_safe_in_a_subject_and_a_key(text: str) -> None:
    if is_name(text, 63) or is_namespace(text) or (text and is_label_value(text)):
        assert text.isascii()
        assert not set(text) & set(" *>:/{}\\\t\r\n\0")
        assert len(text) <= 63


@given(json_values, st.sampled_from(sorted(registry.KINDS)))
def test_any_spec_is_read_or_refused(spec: Any, key: str) -> None:
    kind = registry.KINDS[key]
    manifest = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "a"}, "spec": spec}
    try:
        assert registry.read(manifest).pods > 0
    except Refused as refused:
        assert all(reason.field.startswith("spec") for reason in refused.reasons)


@given(json_values, st.sampled_from(sorted(registry.KINDS)))
def test_any_status_has_a_phase(status: Any, key: str) -> None:
    workload = registry.Workload("a/v1", "A", "n", "a", (), 1)
    shaped = status if isinstance(status, dict) else {"conditions": status, "state": status, "nodes": status}
    name, _, api_version = key.partition(".")
    bare = {"apiVersion": api_version, "kind": name}
    assert registry.status(bare, workload, shaped).state in ("pending", "running", "succeeded", "failed", "unknown")
