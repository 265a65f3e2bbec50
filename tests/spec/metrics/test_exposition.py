"""The judge of metrics pages finds what it is there for."""

import pytest

from tests.exposition import complaints

GOOD = """\
# HELP fairway_jobs Jobs that have not ended.
# TYPE fairway_jobs gauge
fairway_jobs{queue="gold",state="queued"} 2.0
fairway_jobs{queue="a \\"b\\\\",state="queued"} 0.0
# HELP fairway_waits_seconds How long.
# TYPE fairway_waits_seconds histogram
fairway_waits_seconds_bucket{le="1.0"} 1.0
fairway_waits_seconds_bucket{le="+Inf"} 2.0
fairway_waits_seconds_count 2.0
fairway_waits_seconds_sum 7.5
"""


def test_a_good_page_is_good() -> None:
    assert complaints(GOOD) == []


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        pytest.param("# HELP fairway_jobs Jobs that have not ended.\n", "", "no HELP", id="no help"),
        pytest.param("# TYPE fairway_jobs gauge\n", "", "without TYPE", id="no type"),
        pytest.param("fairway_jobs gauge", "fairway_jobs counter", "_total", id="a counter without its suffix"),
        pytest.param("fairway_waits_seconds", "fairway_waits", "unit at the end", id="a histogram without a unit"),
        pytest.param("fairway_waits_seconds", "fairway_waits_ms", "_seconds", id="milliseconds"),
        pytest.param("fairway_jobs", "fairway_wait_age", "_seconds", id="an age without a unit"),
        pytest.param("fairway_jobs", "jobs", "fairway_", id="another prefix"),
        pytest.param('queue="gold"', 'job="a-1"', "no bound", id="a job's id as a label"),
        pytest.param('queue="gold",', "", "different labels", id="a label left out"),
        pytest.param('queue="gold"', 'queue=""', "empty", id="an empty label"),
        pytest.param('queue="gold"', 'Queue="gold"', "lower case", id="a label in upper case"),
        pytest.param("} 2.0", "} two", "no number", id="no number"),
        pytest.param("} 2.0", " 2.0", "not a sample", id="a broken line"),
        pytest.param("fairway_waits_seconds_count 2.0\n", "fairway_waits_seconds_count 2.0\n" * 2, "twice", id="twice"),
    ],
)
def test_what_is_wrong_is_found(was: str, now: str, says: str) -> None:
    found = complaints(GOOD.replace(was, now))
    assert any(says in one for one in found), found
