"""Room is judged by where pods were seen, as far as the clusters' reports had shown it when room was given."""

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.audit.room import Promise, taken
from fairway.domain.resources import BATCH_CPU
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Node, Pods, Slot
from fairway.wire.fleet import Report
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet
from tests.spec.builders.lives import GPU, T0, dequeued

NODES = {"c1": {"n1": {GPU: 8}, "n2": {GPU: 8}}}
LATE = Reason(Code.START_TIMEOUT, "not running after 300 s")
FIRST = T0 + 10_000
SECOND = T0 + 20_000


def reserved(name: str, node: str, at: int, gpus: int = 8) -> list[wire.JobMessage]:
    """A job of one pod that is given a node at `at`."""
    life = dequeued(pods=1, gpus=gpus, name=name)
    said = [msgspec.structs.replace(one, job=name if one.job else "") for _, one in life.said]
    rev = said[-1].rev
    slots = (Slot("Worker", node, 1),)
    head = {"job": name, "tenant": "team-a", "attempt": 1, "cluster": "c1", "slots": slots, "at": at}
    return [
        *said,
        wire.Placed(rev=rev + 1, **head),
        wire.Reserved(rev=rev + 2, expires_at=0, **head),
    ]


def found(*reports: Report, corrected: tuple[Report, ...] = ()) -> list[str]:
    """What is said of two jobs that are both given n1, the second ten seconds after the first."""
    checker = Checker(NODES)
    said = sorted([*reserved("first", "n1", FIRST), *reserved("second", "n1", SECOND)], key=lambda one: one.at)
    for sequence, message in enumerate(said, 1):
        checker.hear(Spoken(sequence, f"m{sequence}", subjects.job(message.verb, message.tenant), message))
    for report in reports:
        checker.see(report)
    for report in corrected:
        checker.see(report, "corrected")
    return [one.text for one in checker.findings().violations if one.rule == "room"]


def report(at: int, sequence: int = 1, used: int = 0, **seen: str) -> Report:
    """All nodes: `seen` names the node of a job's pod, `used` is what others take of n1."""
    rows = {name: Node(name, {GPU: 8}) for name in ("n1", "n2")}
    for job, place in seen.items():
        pods = {**rows[place].attempts, f"{job}/1": Pods({"Worker": 1}, {GPU: 8})}
        rows[place] = msgspec.structs.replace(rows[place], attempts=pods)
    rows["n1"] = msgspec.structs.replace(rows["n1"], used={GPU: used})
    return Report(at=at, cluster="c1", epoch="e", sequence=sequence, full=True, nodes=tuple(rows.values()))


TOO_MUCH = "n1 of c1 has 8 nvidia.com/gpu, but 16 are reserved or running"


@pytest.mark.parametrize(
    ("reports", "want"),
    [
        pytest.param((), [TOO_MUCH], id="without reports a pod is where it was planned"),
        pytest.param((report(FIRST + 5_000, first="n2"),), [], id="a pod that was seen elsewhere frees its slot"),
        pytest.param((report(FIRST + 5_000, first="n1"),), [TOO_MUCH], id="a pod that was seen where it was planned"),
        pytest.param((report(FIRST + 5_000),), [TOO_MUCH], id="a pod that was not seen yet keeps its slot"),
        pytest.param((report(SECOND + 1, first="n2"),), [TOO_MUCH], id="what was reported later could not be known"),
        pytest.param(
            (report(FIRST + 1, first="n2"), report(SECOND - 100, 2, first="n1")),
            [],
            id="a report of the last second may not have arrived yet",
        ),
        pytest.param(
            (report(FIRST + 1, first="n2"), report(SECOND - 2_000, 2, first="n1")),
            [TOO_MUCH],
            id="an older one had",
        ),
        pytest.param(
            (report(FIRST - 1), report(FIRST + 5_000, 2, used=4, first="n2")),
            ["n1 of c1 has 8 nvidia.com/gpu, but 12 are reserved or running"],
            id="other people's pods count",
        ),
    ],
)
def test_a_node_is_overfull(reports: tuple[Report, ...], want: list[str]) -> None:
    assert found(*reports) == want


@pytest.mark.parametrize(("place", "wrong"), [("n2", 0), ("n1", 2)], ids=["elsewhere", "where it was planned"])
def test_a_word_that_came_late_is_judged_by_what_was_seen_until_the_newest_promise_beside_it(
    place: str, wrong: int
) -> None:
    """The second had its room a second after the first, and it was said after the third had its own."""
    checker = Checker({"c1": {"n1": {GPU: 8}, "n2": {GPU: 8}}})
    times = {"first": FIRST, "third": SECOND, "second": FIRST + 1_000}
    said = [one for name, at in times.items() for one in reserved(name, "n1", at, gpus=4)]
    for sequence, message in enumerate(said, 1):
        checker.hear(Spoken(sequence, f"m{sequence}", subjects.job(message.verb, message.tenant), message))
    checker.see(report(FIRST + 5_000, first=place))
    assert len([one for one in checker.findings().violations if one.rule == "room"]) == wrong


@pytest.mark.parametrize(
    ("told", "wrong"), [("n2", []), ("n1", [TOO_MUCH])], ids=["room by what was told", "room by neither"]
)
def test_a_correction_does_not_take_back_what_was_told(told: str, wrong: list[str]) -> None:
    """The first job's pod is gone, and its agent, which has not noticed, goes on reporting it."""
    assert found(report(FIRST + 1, first=told), corrected=(report(FIRST + 2_000),)) == wrong


def lines(**by_namespace: int) -> dict[str, Pods]:
    """As an agent reports a node on which pods say that they are of the first job's attempt, in these namespaces:
    in one, they stand under the attempt itself; in several, each namespace has a line of its own. What holds room
    there (`held`) is in none."""
    held = by_namespace.pop("held", 0)
    several = len(by_namespace) > 1
    found = {"first/1": Pods({"Worker": held}, {GPU: 4 * held})} if held else {}
    for where, count in by_namespace.items():
        namespace = where.replace("_", "-")
        key = f"first/1@{namespace}" if several else "first/1"
        found[key] = Pods({"Worker": count}, {GPU: 4 * count}, namespace)
    return found


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        pytest.param(lines(team_a=2), 0, id="both were seen elsewhere"),
        pytest.param(lines(team_a=1), 4, id="one was seen elsewhere"),
        pytest.param(lines(evil=2), 8, id="only a stranger's pods say that they are its"),
        pytest.param(lines(team_a=2, evil=1), 0, id="both were seen, on a node where a stranger's pod says so too"),
        pytest.param(lines(team_a=1, evil=1), 4, id="one was seen beside a stranger's pod"),
        pytest.param(lines(evil=2, worse=2), 8, id="two strangers say so"),
        pytest.param(lines(held=1, team_a=1, evil=1), 0, id="one was seen, for the other room is held there"),
    ],
)
def test_a_slot_is_kept_until_the_job_s_own_pod_was_seen(seen: dict[str, Pods], kept: int) -> None:
    promise = Promise("c1", (Slot("Worker", "n1", 2),), {"Worker": {GPU: 4}}, "team-a")
    state = {"n1": Node("n1", {GPU: 8}), "n2": Node("n2", {GPU: 16}, attempts=seen)}
    assert taken({"first/1": promise}, state, "n1") == {GPU: kept}


def test_a_pod_that_outlives_its_attempt_still_counts() -> None:
    """The attempt's end was said, but its pod was still seen."""
    checker = Checker(NODES)
    head = {"job": "first", "tenant": "team-a", "attempt": 1, "cluster": "c1"}
    first = [
        *reserved("first", "n1", FIRST),
        wire.Lost(rev=6, at=FIRST + 1, why=LATE, final=True, **head),
    ]
    for sequence, message in enumerate([*first, *reserved("second", "n1", SECOND)], 1):
        checker.hear(Spoken(sequence, f"m{sequence}", subjects.job(message.verb, message.tenant), message))
    assert not [one for one in checker.findings().violations if one.rule == "room"]
    checker.see(report(FIRST + 2, first="n1"))
    assert [one.text for one in checker.findings().violations if one.rule == "room"] == [TOO_MUCH]


@pytest.mark.parametrize("wrong", [[], [TOO_MUCH]], ids=["given up before it was said", "said, and kept"])
def test_room_that_was_given_up_before_it_was_said_is_free(wrong: list[str]) -> None:
    """The word of a reservation was on its way while its job was cancelled and recalled."""
    *before, word = reserved("first", "n1", FIRST)
    head = {"job": "first", "tenant": "team-a", "attempt": 1, "at": FIRST + 1}
    removed = wire.Removed(rev=word.rev + 1, cluster="c1", **head)
    cancelled = wire.Cancelled(rev=word.rev + 2, **head)
    gone = [] if wrong else [removed, cancelled]
    checker = Checker(NODES)
    for sequence, message in enumerate([*before, *gone, word, *reserved("second", "n1", SECOND)], 1):
        checker.hear(Spoken(sequence, f"m{sequence}", subjects.job(message.verb, message.tenant), message))
    assert [one.text for one in checker.findings().violations if one.rule == "room"] == wrong


BATCH = {"first": 4_000, "second": 4_000}


def _asking(message: wire.Admitted, cpu: int) -> wire.Admitted:
    """For so much batch-cpu, or for a GPU."""
    sets = (PodSet("Worker", 1, {BATCH_CPU: cpu} if cpu else {GPU: 1}),)
    work = msgspec.structs.replace(message.spec.workload, pod_sets=sets)
    return msgspec.structs.replace(message, spec=msgspec.structs.replace(message.spec, workload=work))


def in_batch(amounts: tuple[int, ...], asks: dict[str, int] = BATCH, gpus: int = 0) -> list[str]:
    """What is said of two jobs that are both given n1 for batch-cpu, where the node lists these `amounts`, one from two
    seconds before each is given it, and the last a second afterwards. Others use so many of its `gpus`."""
    checker = Checker(NODES)
    said = [one for name, at in (("first", FIRST), ("second", SECOND)) for one in reserved(name, "n1", at)]
    for sequence, one in enumerate(said, 1):
        message = _asking(one, asks[one.job]) if isinstance(one, wire.Admitted) else one
        checker.hear(Spoken(sequence, f"m{sequence}", subjects.job(message.verb, message.tenant), message))
    for at, amount in zip((FIRST - 2_000, SECOND - 2_000, SECOND + 1_000), amounts, strict=True):
        rows = (Node("n1", {GPU: 8, BATCH_CPU: amount}, used={GPU: gpus}), Node("n2", {GPU: 8}))
        checker.see(Report(at=at, cluster="c1", epoch="e", sequence=1, full=True, nodes=rows))
    return [one.text for one in checker.findings().violations if one.rule == "room"]


def test_what_falls_after_a_promise_breaks_none() -> None:
    assert in_batch((4_000, 8_000, 0)) == []


def test_a_promise_on_batch_resources_fits_what_was_reported_when_it_was_made() -> None:
    assert in_batch((4_000, 4_000, 8_000)) == [f"n1 of c1 has 4000 {BATCH_CPU}, but 8000 are reserved or running"]


def test_who_asks_for_none_of_them_may_come_where_they_are_short() -> None:
    assert in_batch((4_000, 0, 0), {"first": 4_000, "second": 0}) == []
    assert in_batch((8_000, 8_000, 0), gpus=9) == []
