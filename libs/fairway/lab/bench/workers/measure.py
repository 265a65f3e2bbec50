"""First how the work is shared among one, two and four of each stage; then what becomes of jobs while they change."""

from pathlib import Path

from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline.fleet import STUBBED, Tell
from fairway.lab.bench.runs import WorkersRun
from fairway.lab.bench.workers import changes, rates

_STUBBED = f"while the rates are measured: {STUBBED}; while instances come and go the clusters are simulated"


async def measure(run: WorkersRun, dir: Path, tell: Tell) -> BenchOutcome:
    outcome = await rates.measure(run, dir / "rates", tell)
    moved = await changes.measure(run, dir / "changes", tell)
    outcome.figures |= moved.figures
    outcome.counts |= moved.counts
    outcome.details |= moved.details
    outcome.wrong = "; ".join(filter(None, (outcome.wrong, moved.wrong)))
    outcome.stubbed = _STUBBED
    return outcome
