"""What is told when the demo is over: every job in a table, every act with its proof, one why, one story, and who
had to make room."""

import msgspec
from rich.text import Text

from fairway.adapters.nats.bus import NatsBus
from fairway.client.failure import Failure
from fairway.client.terminal import render_story, render_table, render_why
from fairway.domain.job import Job
from fairway.explain.story import Story, Why, why
from fairway.explain.wording import span
from fairway.lab.demo.checks import DemoResult, Stage, in_words
from fairway.lab.demo.evictions import explained
from fairway.lab.demo.scenario import Scenario
from fairway.lab.demo.submitters import Submitters
from fairway.lab.fleet.decided_again import summaries
from fairway.operate.replay.report import DecisionReport, lines

_BY = {"hub": "hub API", "cli": "fairway submit", "http": "HTTP", "bus": "the bus"}
_COLUMNS = ("JOB", "KIND", "SENT BY", "PROMISED", "BECAME", "CLUSTER", "ATTEMPT", "WAITED")


async def answered(scenario: Scenario, stage: Stage, doors: Submitters, bus: NatsBus) -> Text:
    """What the fleet says of what it did."""
    text = Text()
    for job, answer in stage.answers.items():
        _title(text, f"fairway why {job}, asked while it waited")
        text.append_text(render_why(msgspec.convert(answer, Why)))
    _title(text, f"fairway story {scenario.story}")
    text.append_text(await _story(doors, scenario.story))
    for title, told in await explained(scenario, doors, bus):
        _title(text, title)
        text.append_text(told)
    return text


def ending(scenario: Scenario, stage: Stage, told: Text, decided: DecisionReport) -> tuple[Text, bool]:
    """The text, with what the fleet has `told`, and whether all promises were kept."""
    found = stage.found()
    lacking = {act.name: stage.missing(act) for act in scenario.acts}
    kept = not any(one.wrong for one in found) and not any(lacking.values()) and decided.complete
    text = render_table(_COLUMNS, [_row(one) for one in found], styled="BECAME")
    _title(text, "What was to be shown, and is in the record")
    for act in scenario.acts:
        mark = lacking[act.name]
        text.append("  no   " if mark else "  yes  ", "red" if mark else "green")
        text.append(f"{act.title}\n" if mark is None else f"{act.title}: not found in its place: {in_words(mark)}\n")
    _decided(text, decided)
    text.append_text(told)
    for one in found:
        if one.wrong and one.job is not None and one.role.job not in stage.answers:
            _title(text, f"{one.role.job}: {one.wrong}")
            text.append_text(render_why(why(one.job, None, one.job.at)))
    text.append("\n")
    for one in found:
        if one.wrong:
            text.append(f"{one.role.job}: {one.wrong}\n", "red")
    return text, kept


def _decided(text: Text, decided: DecisionReport) -> None:
    """By stage: what was decided on what was known then comes out the same once more."""
    text.append("  yes  " if decided.complete else "  no   ", "green" if decided.complete else "red")
    text.append("all that was decided is decided again from the record, and is the same\n")
    for line in summaries(decided) if decided.complete else lines(decided):
        text.append(f"         {line}\n", "dim")


def _row(one: DemoResult) -> tuple[object, ...]:
    job = one.job
    if job is None:
        return (one.role.job, "-", _BY[one.role.by], one.role.end, "-", "-", "-", "-")
    kind = job.spec.workload.kind if job.spec else "-"
    attempt = job.attempt if job.attempts else "-"
    return (
        one.role.job,
        kind,
        _BY[one.role.by],
        one.role.end,
        job.state.value,
        job.cluster or "-",
        attempt,
        _waited(job),
    )


def _waited(job: Job) -> str:
    """From its submission until its last attempt was up."""
    running = job.attempts[-1].running_at if job.attempts else 0
    return span(running - job.submitted_at) if running else "-"


async def _story(doors: Submitters, name: str) -> Text:
    try:
        return render_story(msgspec.convert(await doors.ask(name, "story"), Story))
    except Failure as failure:
        return Text(f"{failure}\n", "red")


def _title(text: Text, title: str) -> None:
    text.append(f"\n{title}\n", "bold underline")


def last(kept: bool, scenario: Scenario, seconds: float) -> Text:
    if kept:
        return Text(f"All {len(scenario.roles)} jobs became what was promised, in {seconds:.0f} s.", "bold green")
    return Text("Not everything became what was promised: see the table and the list above.", "bold red")
