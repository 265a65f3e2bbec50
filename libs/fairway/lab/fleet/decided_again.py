"""What the services of a fleet have decided, decided again once they have ended."""

from collections.abc import Iterator

from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport, StageReport, lines
from fairway.runtime.ports import Bus

# Of killed processes the last moments are not stored, and of a lost working set what was never said: few of many, but
# of a stage that decides little they may be some of the few.
LEAST_KNOWN = 0.9
LEAST_KNOWN_OF_A_STAGE = 0.5


async def decided_again(fleet: EmbeddedFleet, bus: Bus) -> DecisionReport:
    """The services end first, in order: what each of them knew is stored then."""
    await fleet.end_services()
    return await replay(bus, DecisionFilter())


def differing(report: DecisionReport) -> Iterator[str]:
    """What is not as it was, with its stage and fields; what nobody can know any more is no difference."""
    for name, stage in report.stages.items():
        for one in stage.different:
            yield f"{name} would decide otherwise on {one.job} at {one.at}: {one.fields}"
        for row in stage.rows:
            yield f"{name} read {row.table}/{row.key} at revision {row.rev}: it was not what the record says"


def hardly_known(report: DecisionReport) -> list[str]:
    """Of each stage how much cannot be decided again, if that is more than faults may cost: of all, or of a stage."""
    lacking = {name: one for name, one in report.stages.items() if one.unknown}
    whole = _known(report) < LEAST_KNOWN
    return [
        f"{name} cannot decide {len(one.unknown)} of {one.total + len(one.unknown)} again"
        for name, one in lacking.items()
        if whole or _known(one) < LEAST_KNOWN_OF_A_STAGE
    ]


def _known(found: DecisionReport | StageReport) -> float:
    """The share that could be decided again."""
    known = found.identical + len(found.different)
    return known / max(known + len(found.unknown), 1)


def summaries(report: DecisionReport) -> list[str]:
    """A line for each stage, and one for all."""
    return [line for line in lines(report) if line.partition(": ")[0] in {*report.stages, "all"}]
