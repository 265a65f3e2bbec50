"""The picture of a comparison is SVG that says what its axes and lines are."""

from xml.etree import ElementTree

import pytest

from fairway.lab.traces.comparison.picture import draw
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import GPU, TraceJob

SVG = "{http://www.w3.org/2000/svg}"
JOBS = [TraceJob(f"j{at}", "a", at * 86_400.0, 3_600.0, 1, {GPU: "4"}) for at in range(4)]
RUNS = {
    "Fairway": [JobRun(job.at, job.at + 3_600) for job in JOBS],
    "a <b> & c": [None, *(JobRun(job.at + 60, job.at + 3_660) for job in JOBS[1:])],
}


def picture() -> ElementTree.Element:
    return ElementTree.fromstring(draw(JOBS, RUNS, gpus=8))


def points(line: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.attrib["points"].split())]


def test_every_policy_has_a_line_in_both_charts_and_a_name_in_the_legend() -> None:
    found = picture()
    assert [line.findtext(f"{SVG}title") for line in found.iter(f"{SVG}polyline")] == [*RUNS, *RUNS]
    texts = [text.text for text in found.iter(f"{SVG}text")]
    assert [texts.count(name) for name in RUNS] == [1, 1]


def test_the_axes_say_what_they_are_and_in_which_unit() -> None:
    texts = {text.text for text in picture().iter(f"{SVG}text")}
    titles = {"wait (logarithmic)", "part of all jobs", "days after the first submission", "part of all GPUs"}
    assert titles | {"1 s", "1 min", "1 h", "1 day", "100 %", "3"} <= texts


def test_lines_of_one_policy_look_the_same_and_those_of_another_differ_without_colour() -> None:
    lines = list(picture().iter(f"{SVG}polyline"))
    looks = [(line.attrib["stroke"], line.attrib["stroke-dasharray"]) for line in lines]
    assert looks[:2] == looks[2:]
    assert looks[0][1] != looks[1][1]


def test_a_longer_wait_is_further_right_and_a_job_that_never_ran_keeps_the_line_below_the_top() -> None:
    at_once, late, *_ = (points(line) for line in picture().iter(f"{SVG}polyline"))
    assert max(x for x, _ in at_once) < min(x for x, _ in late)
    top = min(y for _, y in at_once)
    height = 330 - 34 - 48
    assert min(y for _, y in late) == pytest.approx(top + height / 4, abs=0.2)
