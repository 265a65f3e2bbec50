"""What the services of a fleet have decided, decided again once they have ended."""

from collections.abc import Iterator

from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport, lines
from fairway.runtime.ports import Bus


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


def summaries(report: DecisionReport) -> list[str]:
    """A line for each stage, and one for all."""
    return [line for line in lines(report) if line.partition(": ")[0] in {*report.stages, "all"}]
