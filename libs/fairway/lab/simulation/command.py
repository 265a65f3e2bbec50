"""`fairway simulate`: the fleet on a virtual clock, one seed or many, and what broke."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from hashlib import blake2b
from itertools import count, islice
from multiprocessing import get_context
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from fairway.client.failure import USAGE, Failure, say
from fairway.lab.simulation.outcome import RunOutcome, RunPlan
from fairway.lab.simulation.people.faults import PROFILES

_commands = typer.Typer()


def register(app: typer.Typer) -> None:
    app.add_typer(_commands)


@_commands.command()
def simulate(
    seed: Annotated[int, typer.Option(min=0, help="which run, or the first of many")] = 1,
    runs: Annotated[int, typer.Option(min=0, help="how many seeds, on all cores; 0: until stopped")] = 1,
    hours: Annotated[float, typer.Option(min=0.02, help="of trouble; quiet follows until everything has ended")] = 0.25,
    clusters: Annotated[int, typer.Option(min=1, max=50, help="how many members")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="how many are submitted in these hours")] = 24,
    pace: Annotated[float, typer.Option(min=1, help="how much more seldom what goes by the clock comes")] = 6.0,
    profile: Annotated[str, typer.Option(help=f"{', '.join(PROFILES)}; all: each in turn")] = "rough",
    replay: Annotated[bool, typer.Option("--replay", help="decide everything again at the end, and compare")] = False,
    hub: Annotated[
        bool, typer.Option("--hub", help="with a hub, where most jobs and all settings are applied")
    ] = False,
    companions: Annotated[
        bool, typer.Option("--companions", help="with a hub, and jobs that name ConfigMaps and Secrets of it")
    ] = False,
    schedules: Annotated[bool, typer.Option("--schedules", help="with a hub, and schedules there")] = False,
    keeper: Annotated[
        bool, typer.Option("--keeper", help="manifests leave the record minutes after the end of their jobs")
    ] = False,
    idle: Annotated[bool, typer.Option("--idle", help="nodes have idle resources, and jobs ask for them")] = False,
    evictions: Annotated[bool, typer.Option("--evictions", help="owners want back what they have lent")] = False,
    hub_too: Annotated[bool, typer.Option("--hub-too", help="every second seed is with a hub")] = False,
    idle_too: Annotated[bool, typer.Option("--idle-too", help="two of every four seeds are with --idle")] = False,
    evictions_too: Annotated[bool, typer.Option("--evictions-too", help="half of the seeds: --evictions")] = False,
    output: Annotated[str, typer.Option("-o", "--output", help="json: for programs")] = "",
) -> None:
    """Run a fleet on a virtual clock, with faults drawn from a seed; the same seed is the same run."""
    _check(profile, output)
    hub = hub or companions or schedules
    parts = (hub, companions, schedules, keeper, idle, evictions)
    like = RunPlan(seed, hours, clusters, profile, jobs, pace, replay, *parts)
    tally = _Tally(output)
    try:
        for outcome in carried_out(_plans(like, runs, _Also(hub_too, idle_too, evictions_too)), runs):
            tally.take(outcome)
    except KeyboardInterrupt:
        say("stopped")
    tally.tell()
    raise typer.Exit(1 if tally.broken else 0)


def _check(profile: str, output: str) -> None:
    if profile != "all" and profile not in PROFILES:
        raise Failure(USAGE, f"--profile {profile} is not known", f"use {', '.join(PROFILES)} or all")
    if output not in ("", "json"):
        raise Failure(USAGE, f"--output {output} is not known", "use json, or leave it out")


class _Also(NamedTuple):
    """What half of the seeds have beside what all of them have."""

    hub: bool
    idle: bool
    evictions: bool


def _plans(like: RunPlan, runs: int, also: _Also) -> Iterator[RunPlan]:
    """From its seed on. Of eight seeds in a row one has all that `also` says, one nothing of it, and the others the
    combinations between."""
    profiles = tuple(PROFILES) if like.profile == "all" else (like.profile,)
    for one in count(like.seed) if runs == 0 else range(like.seed, like.seed + runs):
        drawn = {
            "hub": like.hub or (also.hub and one % 2 == 1),
            "idle": like.idle or (also.idle and one // 2 % 2 == 1),
            "evictions": like.evictions or (also.evictions and one // 4 % 2 == 1),
        }
        yield msgspec.structs.replace(like, seed=one, profile=profiles[one % len(profiles)], **drawn)


def carried_out(plans: Iterator[RunPlan], runs: int) -> Iterator[RunOutcome]:
    """The outcomes as they come in; one run in this process, several on all cores."""
    from fairway.lab.simulation.run import simulate as simulated

    if runs == 1:
        yield simulated(next(plans))
        return
    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        going: set[Future[RunOutcome]] = {pool.submit(simulated, plan) for plan in islice(plans, 2 * workers)}
        while going:
            done, going = wait(going, return_when=FIRST_COMPLETED)
            for one in done:
                yield one.result()
            going |= {pool.submit(simulated, plan) for plan in islice(plans, len(done))}


class _Tally:
    """Tells of a seed that broke at once, and of all of them in the end."""

    def __init__(self, output: str) -> None:
        self._output = output
        self._outcomes = list[RunOutcome]()

    @property
    def broken(self) -> list[RunOutcome]:
        return [one for one in self._outcomes if one.violations]

    def take(self, outcome: RunOutcome) -> None:
        self._outcomes.append(outcome)
        if self._output == "json":
            return
        if outcome.violations:
            typer.echo("\n".join(_broken(outcome)))
        if len(self._outcomes) % 100 == 0:
            say(self._sentence())

    def tell(self) -> None:
        if self._output == "json":
            found = self._outcomes[0] if len(self._outcomes) == 1 else self._together()
            typer.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        else:
            say(self._sentence())

    def _together(self) -> dict[str, object]:
        """Of several runs: the first seed, what broke in any of them, and one hash of all their states."""
        states = "".join(one.state_hash for one in sorted(self._outcomes, key=lambda one: one.seed))
        return {
            "seed": min((one.seed for one in self._outcomes), default=0),
            "runs": len(self._outcomes),
            "fleet_hours": round(self._sum("hours"), 2),
            "steps": self._sum("steps"),
            "jobs": self._sum("jobs"),
            "drawn": dict(sorted(sum((Counter(one.drawn) for one in self._outcomes), Counter[str]()).items())),
            "violations": [breach for outcome in self.broken for breach in outcome.violations],
            "state_hash": blake2b(states.encode(), digest_size=16).hexdigest(),
            "broken": self.broken,
        }

    def _sentence(self) -> str:
        runs = len(self._outcomes)
        state = f" (state {self._outcomes[0].state_hash})" if runs == 1 else ""
        return (
            f"{runs} runs{state}, {self._sum('hours'):,.1f} fleet-hours, {self._sum('jobs'):,} jobs, "
            f"{self._sum('steps'):,} steps in {self._sum('seconds'):,.0f} s of processor time: "
            f"{len(self.broken) or 'none'} broken"
        )

    def _sum(self, figure: str) -> Any:
        return sum(getattr(one, figure) for one in self._outcomes)


def _broken(outcome: RunOutcome) -> Iterable[str]:
    yield f"seed {outcome.seed} broke; replay it with: {outcome.plan.command}"
    for one in outcome.violations[:10]:
        yield f"  after {one.at / 1000:,.1f} s, {one.rule}: {f'{one.job}: ' if one.job else ''}{one.text}"
    if outcome.story:
        yield "  what was said of the first of these jobs until then:"
        yield from (f"    {line}" for line in outcome.story)
