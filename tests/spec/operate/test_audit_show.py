"""What an audit says in sentences: how much was looked at, and every difference with both sides."""

import msgspec

from fairway.audit.attempts import Violation
from fairway.audit.evictions.claims import EvictionFigures
from fairway.audit.store_drift import Drift
from fairway.operate.audit.show import lines
from fairway.operate.audit.verify import Audit

GOOD = Audit(last=17, messages=16, jobs=1, states=("aa", "aa"), keys=12, drift=[], unsettled=[], breaches=[])


def test_an_audit_that_found_nothing_is_four_lines() -> None:
    assert GOOD.ok
    assert list(lines(GOOD)) == [
        "record   16 events up to message 17, 1 job",
        "replay   state aa, twice the same",
        "store    12 keys, 0 differences",
        "rules    0 breaches",
    ]


def test_it_says_through_which_door_it_was_asked() -> None:
    audit = msgspec.structs.replace(GOOD, asked={"": 2, "bus": 1, "http": 12})
    assert list(lines(audit))[3] == "asked    2 by nobody that a door names, 1 on the bus, 12 over HTTP"


def test_it_says_what_became_of_claims_and_of_whom_they_evicted() -> None:
    figures = EvictionFigures({"used": 3, "ClaimExpired": 1}, {"Reclaim": 4, "Preemption": 1}, {"ClaimExpired": 2}, 2)
    assert list(lines(msgspec.structs.replace(GOOD, evictions=figures)))[3:5] == [
        "claims   3 used, 1 ClaimExpired",
        "evicted  4 by Reclaim, 1 by Preemption; in vain 2 for claims that ended ClaimExpired; one job 2 times at most",
    ]


def test_each_difference_says_both_sides() -> None:
    drift = [
        Drift("jobs", "a", 8, 7, {"cluster": ("north", "south"), "why": (None, {"code": "Queued"})}),
        Drift("live", "b", 1, None),
        Drift("ledger/north", "c/1", None, 1),
        Drift("quota", "root|gpu", None, None, {"": (8, 4)}),
    ]
    found = Audit(17, 16, 1, ("aa", "bb"), 12, drift, [drift[1]], [Violation("a", 9, "end", "it ended twice")])
    assert not found.ok
    assert [line.strip() for line in lines(found)][1:] == [
        "replay   state aa, and then bb: a replay is not repeatable",
        "store    12 keys, 4 differences",
        'jobs a: revision 7 in the store, 8 by the record; cluster is "south", and "north" by the record; '
        'why is {"code":"Queued"}, and null by the record',
        "live b: by the record, and not in the store",
        "ledger/north c/1: in the store, and not by the record",
        "quota root|gpu: value is 4, and 8 by the record",
        "1 key changed too fast to be compared; run it again",
        "rules    1 breach",
        "end: job a, message 9: it ended twice",
    ]
