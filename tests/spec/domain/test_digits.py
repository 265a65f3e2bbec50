"""Numbers in the texts of others are those in ASCII digits: what another alphabet calls one is none."""

import pytest

from fairway.domain.resources import parse_quantity
from fairway.domain.text.digits import is_whole
from fairway.domain.working_sets import born_of
from fairway.gateway.http.jobs import _limit
from fairway.gateway.http.problem import Problem
from fairway.placement.constraints import matches
from fairway.wire.reasons import Refused
from fairway.wire.workload import Expression
from fairway.workloads.kinds.registry import read
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.settings.policies import read_duration, read_number
from tests.cases.good_jobs import spark

# Ten in Arabic and in full width, a superscript that `int` refuses, and what `int` takes and nobody writes.
OTHERS = ["\u0661\u0660", "\uff11\uff10", "1\u00b2", "1_0", " 10", "10\n", "+10", ""]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_written_in_ascii_digits_is_no_number(text: str) -> None:
    assert not is_whole(text)
    assert is_whole("10") and not is_whole("10", 1)


@pytest.mark.parametrize("text", ["\u0661", "\uff11", "1\u00b2"])
def test_annotations_labels_and_parameters_take_none_of_them(text: str) -> None:
    numbers = Field(text, Problems())
    spans = Field(f"{text}s", Problems())
    assert read_number(numbers, 7, 1, 9) == 7 and numbers.problems
    assert read_duration(spans, 7, 1, 9_000) == 7 and spans.problems
    with pytest.raises(ValueError):
        parse_quantity("cpu", text)
    with pytest.raises(Problem):
        _limit(text)
    assert born_of(f"{text}-owner") == 0
    assert not matches(Expression("size", "Gt", (text,)), {"size": "5"})
    assert not matches(Expression("size", "Lt", ("9",)), {"size": text})


@pytest.mark.parametrize("text", ["\u0661", "1_0", "0.\u0661", "1e\u0661", "nan", "-1", "101"])
def test_a_factor_of_spark_is_one_that_java_reads(text: str) -> None:
    job = spark()
    job["spec"]["memoryOverheadFactor"] = text
    with pytest.raises(Refused, match="not a factor"):
        read(job)
    job["spec"] |= {"memoryOverheadFactor": "0.25"}
    assert read(job).pods


@pytest.mark.parametrize("text", ["1\u212a", "1\u00a0g", "\u0661g"])
def test_a_memory_size_of_spark_has_letters_of_ascii(text: str) -> None:
    job = spark()
    job["spec"]["driver"]["memory"] = text
    with pytest.raises(Refused, match="not a memory size"):
        read(job)


def test_a_page_is_no_larger_for_noughts_before_its_size() -> None:
    with pytest.raises(Problem):
        _limit("000000001999999999")
    assert _limit("100") == 100
