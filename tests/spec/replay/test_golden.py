"""What earlier versions decided is decided the same today, or it is stated here what is not."""

from importlib.metadata import version

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.recorded_verdicts import verdicts
from fairway.global_scheduler.decide import SERVICE
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.spec.replay.golden_file import FOLDER, read
from tests.spec.replay.recorded import said_in

FILES = {one.stem: one.read_bytes() for one in sorted(FOLDER.glob("*.json"))}
# By version: the fields that are decided otherwise since, on purpose. Say in the changelog why.
STATED: dict[str, set[str]] = {}


def decided(bus: MemoryBus) -> list[wire.JobMessage]:
    """What the scheduler said."""
    said = [said_in(one) for one in bus.stored("JOBS")]
    return [one.event for one in said if one.is_of(SERVICE)]


@pytest.mark.parametrize("version", FILES)
async def test_what_was_decided_then_is_decided_now(version: str) -> None:
    bus = await read(FILES[version])
    report = await replay(bus, DecisionFilter())
    assert (report.unknown, report.identical + len(report.different)) == ([], len(decided(bus)))
    assert {name for one in report.different for name in one.fields} <= STATED.get(version, set())


@pytest.mark.parametrize("version", FILES)
async def test_decisions_of_many_kinds_are_kept(version: str) -> None:
    said = decided(await read(FILES[version]))
    found = {verdict.code for one in said for verdict in verdicts(one)}
    assert found >= {
        Code.FITS,
        Code.NOT_ENOUGH,
        Code.NEVER_FITS,
        Code.NOT_SELECTED,
        Code.TAINTED,
        Code.CAPACITY_STALE,
        Code.RECENTLY_FAILED,
        Code.CORDONED,
        Code.KIND_NOT_SERVED,
        Code.FRAGMENTED,
        Code.CAPACITY_UNKNOWN,
    }
    assert {one.verb for one in said} == {"placed", "queue"}


def test_this_version_has_its_own() -> None:
    """Written by `python -m tests.spec.replay.golden_file` with the version."""
    assert version("fairway") in FILES
