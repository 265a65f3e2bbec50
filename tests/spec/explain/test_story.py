"""The story of a job: every step in order, with its decision, from a record that repeats and interleaves."""

import msgspec
import pytest
from msgspec import Raw

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.explain.story import compose, story_of
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S, failing, place, queued, running, spec, submitted


def moved() -> Life:
    """Fails in c1, is removed, and finishes in c7."""
    life = failing(running()).then(wire.Removed, cluster="c1", attempt=1, after=3 * S)
    place(life.then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32}), "c7")
    life.then(wire.Reserved, cluster="c7", slots=SLOTS, expires_at=life.at + 60 * S).then(wire.Dispatched, cluster="c7")
    return life.then(wire.Running, cluster="c7").then(wire.Succeeded, cluster="c7", text="done", after=3600 * S)


def test_a_moved_job_is_told_attempt_by_attempt() -> None:
    story = compose(moved().now, moved().said)
    go = ["dequeued", "placed", "reserved", "dispatched", "running"]
    first = ["submitted", "admitted", "queue", *go, "failed", "recall"]
    second = ["queue", "removed", *go, "succeeded"]
    assert [line.what for line in story.lines if line.attempt == 1] == first
    assert [line.what for line in story.lines if line.attempt == 2] == second
    assert (story.state, story.attempt, story.missing) == ("succeeded", 2, ())


def test_durations_are_those_between_the_steps() -> None:
    story = compose(moved().now, moved().said)
    assert [line.after for line in story.lines if line.what in ("failed", "removed", "succeeded")] == [
        60 * S,
        3 * S,
        3600 * S,
    ]


PLACED = (
    "Placed in c1: 4 pods on 2 nodes, score 812.",
    "nodes: n1: 2 Worker; n2: 2 Worker",
    "score of c1: 812 (tightness 40, spread_load 12)",
    "score of c5: 200 (tightness 9)",
    "c2: needs 4 pods of 8 nvidia.com/gpu; node by node 1 fit",
)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        pytest.param("submitted", ("through the hub as hub:u-1", "21 bytes"), id="who submitted it, and how"),
        pytest.param("admitted", ("4 pods, all of them together", "Worker 4 × (8 nvidia.com/gpu)"), id="its size"),
        pytest.param("dequeued", ("32 nvidia.com/gpu charged to quota root/a", "root > root/a"), id="its charge"),
        pytest.param("placed", PLACED, id="the choice: nodes, scores, and every other cluster's verdict"),
        pytest.param("failed", ("Failed in c1: exit code 137 [JobFailed]",), id="why an attempt failed"),
        pytest.param("succeeded", ("Succeeded in c7: done.",), id="how it ended"),
    ],
)
def test_a_step_tells_the_decision_behind_it(what: str, says: tuple[str, ...]) -> None:
    told = next(one for one in compose(moved().now, moved().said).lines if one.what == what)
    text = "\n".join((told.sentence, *told.details))
    assert [words for words in says if words not in text] == [], text


def test_what_was_said_twice_is_told_once_and_what_was_said_late_is_told_in_its_place() -> None:
    life = queued()
    (_, submission), (_, admission), (_, queueing) = life.said
    shuffled = [(1, submission), (2, queueing), (7, admission), (9, queueing)]
    story = compose(life.now, shuffled)
    assert [one.what for one in story.lines] == ["submitted", "admitted", "queue"]


def test_a_revision_that_the_record_does_not_show_is_named() -> None:
    life = queued()
    assert compose(life.now, [life.said[0], life.said[2]]).missing == (1,)


def test_the_story_says_who_asked_and_through_which_door() -> None:
    ada = Actor("ada", "http", "r-1")
    life = submitted(who=ada).then(wire.Admitted, attempt=1, spec=spec(who=ada)).then(wire.Queue, queue="gold")
    life.then(wire.Cancel, who=Actor("hub:team-a", "hub", "u-1"))
    told = {one.what: one.sentence for one in compose(life.now, life.said).lines}
    assert told["submitted"].startswith("Submitted by ada (over HTTP) as hub:u-1")
    assert told["cancel"] == "Cancellation asked for by hub:team-a (on the hub)."


def test_a_cancellation_stands_where_it_was_asked_for() -> None:
    life = running().then(wire.Cancel, who=Actor("ann", "http"))
    life.then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))
    assert [one.what for one in compose(life.now, life.said).lines][-3:] == ["running", "cancel", "recall"]


def changing() -> Life:
    """Made smaller while it waits, then while it runs; a third change is not taken over, and it is held."""
    ada = Actor("ada", "hub", "u-1")
    manifest = Raw(b'{"kind":"PyTorchJob"}')
    life = queued().then(wire.Revise, manifest=manifest, source="hub", who=ada).then(wire.Revised, spec=spec(pods=3))
    life.then(wire.Amended, spec=spec(pods=3), queue="silver", leaf=("root", "root/b"))
    life.then(wire.Dequeued).then(wire.Placed, cluster="c1", slots=SLOTS)
    life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=T0).then(wire.Dispatched, cluster="c1")
    life.then(wire.Adjust, cluster="c1", spec=spec(pods=2)).then(wire.Amended, cluster="c1", spec=spec(pods=2))
    why = Reason(Code.NOT_CHANGEABLE, "spec.template cannot change", remedy="cancel it")
    life.then(wire.Unchanged, why=why, digest="b" * 64)
    return life.then(wire.HoldJob, held=True, who=ada).then(wire.Held, held=True).then(wire.Held, held=False)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        pytest.param("revise", "Another manifest came by ada (on the hub): a manifest of 21 bytes.", id="who asked"),
        pytest.param(
            "revised",
            "The new manifest is understood.\npod sets: Worker 3 ×",
            id="what was understood",
        ),
        pytest.param("amended", "counts from here on; it waits in queue silver (quota root/b).", id="where it waits"),
        pytest.param("adjust", "To be changed in c1.\npod sets: Worker 2 ×", id="what its object is to say"),
        pytest.param(
            "unchanged",
            "The new manifest is not taken over: spec.template cannot change [NotChangeable]; cancel it.",
            id="why a change is not taken over",
        ),
        pytest.param("hold", "Asked by ada (on the hub) to hold the job.", id="who holds it"),
        pytest.param("held", "Held by its owner.", id="that it is held"),
    ],
)
def test_a_change_is_told(what: str, says: str) -> None:
    told = next(one for one in compose(changing().now, changing().said).lines if one.what == what)
    assert says in "\n".join((told.sentence, *told.details))


def test_the_last_word_on_a_change_is_told_too() -> None:
    told = [one.sentence for one in compose(changing().now, changing().said).lines]
    assert "Changed in c1, where it is." in told
    assert told[-1] == "Held no longer."


def test_the_manifest_is_not_part_of_the_record_that_is_shown() -> None:
    story = compose(queued().now, queued().said)
    assert story.record[0]["manifest"] == {"size": 21}
    revise = next(one for one in compose(changing().now, changing().said).record if one["type"] == "revise")
    assert (revise["manifest"], revise.get("policies")) == ({"size": 21}, None)


async def stored(*lives: Life) -> tuple[MemoryBus, MemoryStore]:
    """The lives, interleaved message by message, in the record; and their rows."""
    bus = MemoryBus()
    store = MemoryStore()
    await store.finish_rebuild("1")
    for index in range(max(len(life.said) for life in lives)):
        for life in lives:
            if index < len(life.said):
                _, message = life.said[index]
                name = f"{life.name}-{index}"
                subject = subjects.job(message.verb, message.tenant)
                await bus.publish([Outgoing(name, subject, msgspec.json.encode(message))])
    for life in lives:
        await store.load("jobs", {life.name: (life.now.rev, msgspec.json.encode(life.now))})
    return bus, store


def with_submission_at(sequence: int, name: str) -> Life:
    life = Life(name).then(wire.Submitted, manifest=msgspec.Raw(b"{}"), job="", after=0)
    life.then(wire.Admitted, attempt=1, spec=spec(manifest=wire.ManifestRef(sequence, "0" * 64, 2)))
    return life.then(wire.Queue, queue="gold", enqueued_at=life.at)


async def test_only_the_jobs_own_messages_are_told_though_its_submission_did_not_name_it() -> None:
    bus, store = await stored(with_submission_at(1, "one"), with_submission_at(2, "two"))
    story = await story_of(bus, store, "two")
    assert story is not None
    assert [(one.what, one.sequence) for one in story.lines] == [("submitted", 2), ("admitted", 4), ("queue", 6)]


async def test_a_secret_that_was_written_out_is_told_by_its_place_and_never_shown() -> None:
    env = [{"name": "DB_PASSWORD", "value": "hunter2"}]
    pod = {"containers": [{"name": "c", "image": "i", "env": env}], "restartPolicy": "Never"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}
    life = Life("one").then(wire.Submitted, manifest=msgspec.Raw(msgspec.json.encode(job)), after=0)
    life.then(wire.Admitted, attempt=1, spec=spec(manifest=wire.ManifestRef(1, "0" * 64, 2)))
    story = await story_of(*await stored(life), "one")
    assert story is not None
    assert "env[0].value: is the value of 'DB_PASSWORD', written out" in story.lines[0].details[0]
    assert "hunter2" not in str(story)


async def test_a_job_that_was_never_understood_is_found_through_its_rejection() -> None:
    reasons = (Reason(Code.UNKNOWN_KIND, "'Pod' is not a job kind", "kind", "use Job"),)
    other = with_submission_at(1, "one")
    lies = wire.ManifestRef(2, "0" * 64, 21)
    life = submitted("odd-1").then(wire.Rejected, reasons=reasons, manifest=lies, kind="Pod")
    bus, store = await stored(other, life)
    story = await story_of(bus, store, "odd-1")
    assert story is not None
    assert [one.what for one in story.lines] == ["submitted", "rejected"]
    assert story.lines[1].details == ("kind: 'Pod' is not a job kind [UnknownKind]; use Job",)


async def test_what_came_too_late_for_its_working_set_is_not_told() -> None:
    life = with_submission_at(1, "one")
    bus, store = await stored(life)
    begins = await said(bus, wire.Rebuild(owner="a"))
    await said(bus, wire.Rebuild(owner="a", begun=begins))
    life.then(wire.Dequeued, path=("root",), charge={}, woken_by="")
    _, dequeued = life.said[-1]
    await said(bus, msgspec.structs.replace(dequeued, woken_by="too late", epoch=begins - 1))
    counts = await said(bus, msgspec.structs.replace(dequeued, epoch=begins))
    await store.load("jobs", {"one": (life.now.rev, msgspec.json.encode(life.now))})
    story = await story_of(bus, store, "one")
    assert story is not None
    assert [(one.what, one.sequence) for one in story.lines][-2:] == [("queue", 3), ("dequeued", counts)]


async def said(bus: MemoryBus, message: wire.JobMessage) -> int:
    """Its place in the record."""
    place = len(bus.stored(subjects.JOBS)) + 1
    subject = subjects.job(message.verb, message.tenant)
    await bus.publish([Outgoing(f"said-{place}", subject, msgspec.json.encode(message))])
    return place


async def test_a_job_that_nobody_knows_has_no_story() -> None:
    bus, store = await stored(queued())
    assert await story_of(bus, store, "nobody") is None
