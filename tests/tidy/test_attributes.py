"""A class that acts has few attributes: what belongs together is a value with a name. The table only shrinks."""

from tests.tidy.rules import ATTRIBUTES, many_attributes
from tests.tidy.source import sources

# Not divided yet.
_KNOWN = {
    "tests/support/memory/cluster.py:MemoryCluster": 15,
    "libs/fairway/lab/traces/replay.py:Replay": 14,
    "tests/faults/arena/links.py:Link": 12,
    "tests/kubernetes/matrix/fleet.py:House": 15,
    "tests/kubernetes/troubles/meddler.py:Meddler": 13,
    "tests/scenarios/memory_fleet.py:Fleet": 16,
}


def test_no_class_has_more_attributes_than_a_reader_keeps_in_mind() -> None:
    """An entry that is no longer needed fails this, too, and one whose number has changed."""
    complaints = [complaint for source in sources(".py") for complaint in many_attributes(source)]
    assert sorted(complaints) == sorted(
        f"{name} sets {count} attributes, at most {ATTRIBUTES}" for name, count in _KNOWN.items()
    )
