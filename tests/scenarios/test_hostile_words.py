"""What one tenant, or one cluster, says of another's: it does nothing, anywhere, and is one dead letter."""

from collections.abc import Callable

import msgspec
import pytest

from fairway.domain.working_sets import WorkingSets
from fairway.explain.story import story_of
from fairway.runtime.ports import Outgoing
from fairway.runtime.record.folding import Folding
from fairway.wire import fleet as fleet_wire
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.scenarios.memory_fleet import Fleet, manifest, running, runs
from tests.spec.builders.lives import spec

WHY = Reason(Code.CANCELLED, "forged")
# Of a running job of team-a, in its first attempt in c1, at revision 6 or so.
FORGED: dict[str, Callable[[str, int], wire.JobMessage]] = {
    "cancel": lambda job, rev: wire.Cancel(job=job, tenant="team-b", who=Actor("team-b", "bus"), at=1),
    "succeeded": lambda job, rev: wire.Succeeded(job=job, tenant="team-b", attempt=1, rev=rev, cluster="c1"),
    "failed for good": lambda job, rev: wire.Failed(
        job=job, tenant="team-b", attempt=1, rev=rev, cluster="c1", why=WHY, final=True
    ),
    "recall": lambda job, rev: wire.Recall(job=job, tenant="team-b", attempt=1, rev=rev, cluster="c1", why=WHY),
    "revise": lambda job, rev: wire.Revise(
        job=job,
        tenant="team-b",
        manifest=msgspec.Raw(msgspec.json.encode(manifest("victim", 1, 1, namespace="team-b"))),
        source="hub",
        who=Actor("hub:team-b", "hub"),
    ),
    "adjust": lambda job, rev: wire.Adjust(job=job, tenant="team-b", attempt=1, cluster="c1", spec=spec("victim")),
    "far ahead": lambda job, rev: wire.Lost(
        job=job, tenant="team-b", attempt=1, rev=2**31 - 1, cluster="c1", why=WHY, final=True
    ),
}


def letters(fleet: Fleet) -> list[fleet_wire.DeadLetter]:
    return [msgspec.json.decode(one.data, type=fleet_wire.DeadLetter) for one in fleet.bus.stored("DLQ")]


async def say_on(fleet: Fleet, subject: str, data: bytes, name: str = "forged") -> None:
    await fleet.bus.publish([Outgoing(name, subject, data)])
    await fleet.quiet(1)


def epoch(fleet: Fleet) -> int:
    return int(fleet.store.epoch.partition("-")[0])


# Where it is said, and for which tenant.
PLACES = {
    "its own subject": ("team-b", "team-b"),
    "the job's subject": ("team-a", "team-b"),
    "its own subject, in the other's name": ("team-b", "team-a"),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
@pytest.mark.parametrize("forged", FORGED.values(), ids=list(FORGED))
async def test_what_another_tenant_says_of_a_job_does_nothing_anywhere(
    forged: Callable[[str, int], wire.JobMessage], place: tuple[str, str]
) -> None:
    subject, tenant = place
    async with running(c1=(8,)) as fleet:
        fleet.plays["victim"] = [runs(ends="")]
        job = await fleet.submit("victim")
        await fleet.quiet(2)
        before = fleet.jobs()[job]
        assert before.state.value == "running"
        message = msgspec.structs.replace(forged(job, before.rev + 1), epoch=epoch(fleet), tenant=tenant)
        await say_on(fleet, subjects.job(message.verb, subject), msgspec.json.encode(message))
        assert fleet.jobs()[job] == before
        kept = [one for one in letters(fleet) if one.why.code is Code.WRONG_SUBJECT]
        assert kept and {one.why.code for one in letters(fleet)} == {Code.WRONG_SUBJECT}
        store = fleet.store.beside()
        assert await store.open()
        story = await story_of(fleet.bus, store, job)
        assert story is not None and not [line for line in story.lines if "eve" in line.sentence]
        assert message.verb not in [line.what for line in story.lines]
        fleet.store.wipe()
        await fleet.quiet(2)
        assert fleet.jobs()[job].state == before.state and not fleet.jobs()[job].cancelling
        findings = fleet.findings()
        assert {one.rule for one in findings.violations} <= {"tenant"}
        await fleet.cancel(job)
        await fleet.quiet(3)
        assert fleet.jobs()[job].state.value == "cancelled"


def test_a_record_with_forged_words_before_the_true_ones_folds_to_the_true_job() -> None:
    """A rebuild puts what came early aside: it must not keep the forged word for the true one."""
    admitted = wire.Rejected(job="j", tenant="a", rev=1, reasons=(WHY,))
    true = wire.Recall(job="j", tenant="a", rev=2, cluster="", why=WHY)
    forged = msgspec.structs.replace(true, tenant="b", cluster="c9")
    for order in ([forged, true, admitted], [true, forged, admitted], [admitted, forged, true]):
        folding = Folding(WorkingSets())
        for at, message in enumerate(order, 1):
            folding.read(msgspec.json.encode(message), at, subjects.job(message.verb, message.tenant))
        job = folding.jobs()["j"]
        assert (job.tenant, job.rev, job.removing) == ("a", 2, "")


async def test_what_is_refused_for_its_namespace_does_not_take_the_id_of_anothers_job() -> None:
    async with running(c1=(8,)) as fleet:
        raw = msgspec.Raw(msgspec.json.encode(manifest("j", 1, 1, namespace="team-a")))
        eve = wire.Submitted(tenant="team-b", manifest=raw, client="c1", at=fleet.clock.now())
        await fleet.say("eve", eve)
        await fleet.quiet(1)
        job = await fleet.submit("j")  # its client id is c1, too
        await fleet.quiet(3)
        assert fleet.jobs()[job].state.value == "succeeded" and fleet.jobs()[job].tenant == "team-a"
        assert sorted(one.state.value for one in fleet.jobs().values()) == ["rejected", "succeeded"]


ODD = ("team-data\n", "team data", "a.b", "*", ">", "", "\x00", "ü", "x" * 5_000)


async def test_a_tenant_that_is_no_name_stops_nobody() -> None:
    async with running(c1=(8,)) as fleet:
        for at, tenant in enumerate(ODD):
            raw = msgspec.Raw(msgspec.json.encode(manifest("odd", 1, 1, namespace=tenant)))
            odd = wire.Submitted(tenant=tenant, manifest=raw, client=f"odd-{at}", at=fleet.clock.now())
            # On its own subject, and on the one that it wants to be taken for.
            for number, place in enumerate((tenant, "team-data")):
                word = Outgoing(f"odd-{at}-{number}", subjects.job("submitted", place), msgspec.json.encode(odd))
                await fleet.bus.publish([word])
            job = await fleet.submit(f"behind-{at}")
            await fleet.quiet(2)
            assert fleet.jobs()[job].state.value == "succeeded", tenant
            assert {one.state.value for one in fleet.jobs().values()} <= {"succeeded", "rejected"}, tenant
            assert fleet.bus.waiting == 0, tenant


HUGE = {
    "rev": b'"rev":99999999999999999999999999',
    "rev of 63 bits": b'"rev":9223372036854775807',
    "epoch": b'"epoch":99999999999999999999999999',
    "epoch below nothing": b'"epoch":-1',
    "attempt": b'"attempt":4294967296',
    "attempt below nothing": b'"attempt":-7',
    "at": b'"at":999999999999999999999',
    "at below nothing": b'"at":-5',
}


@pytest.mark.parametrize("verb", ["cancel", "blocked", "placed", "dispatched", "admitted"])
async def test_a_head_with_numbers_that_nobody_counts_to_stops_nobody(verb: str) -> None:
    async with running(c1=(8,)) as fleet:
        fleet.plays["victim"] = [runs(ends="")]
        job = await fleet.submit("victim")
        await fleet.quiet(2)
        before = fleet.jobs()[job]
        later = []
        for at, (name, head) in enumerate(HUGE.items()):
            body = b'{"type":"%b","job":"%b","tenant":"team-a",%b}' % (verb.encode(), job.encode(), head)
            await say_on(fleet, subjects.job(verb, "team-a"), body, f"forged-{at}")
            later.append(await fleet.submit(f"later-{at}"))
            await fleet.quiet(2)  # in all below 30 s: an agent in memory reports what changes, and then no more
            assert fleet.jobs()[job] == before, name
            assert fleet.jobs()[later[-1]].state.value == "succeeded", name
        fleet.store.wipe()
        await fleet.quiet(2)
        assert fleet.jobs()[job].state == before.state
        assert {fleet.jobs()[one].state.value for one in later} == {"succeeded"}


async def test_a_cluster_speaks_for_itself_alone() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.plays["victim"] = [runs(ends="")]
        job = await fleet.submit("victim")
        await fleet.quiet(2)
        here = fleet.jobs()[job].cluster
        there = "c2" if here == "c1" else "c1"
        strand = fleet_wire.Strand(job, 1, "n0", "has been NotReady", 1_000)
        words: list[fleet_wire.FleetMessage] = [
            fleet_wire.Stranded(at=1, cluster=here, attempts=(strand,)),
            fleet_wire.Freed(cluster=here, free={"cpu": 10**9}, count=10**9),
            fleet_wire.Report(cluster=here, epoch="e", sequence=1, full=True, left=True),
        ]
        for message in words:
            place = subjects.cluster(message.verb, there)
            await say_on(fleet, place, msgspec.json.encode(message), f"forged-{message.verb}")
        assert (fleet.jobs()[job].state.value, fleet.jobs()[job].attempt) == ("running", 1)
        assert [one.why.code for one in letters(fleet)] == [Code.WRONG_SUBJECT] * 3
