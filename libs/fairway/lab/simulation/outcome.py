"""What is asked of a run, and what came of it."""

from msgspec import Struct


class RunPlan(Struct, frozen=True):
    """`hours` of trouble in which `jobs` are submitted; quiet follows until everything has ended. What goes by the
    clock comes `pace` times more seldom than in production (runtime/loop.py): a quiet hour is mostly made of it, and
    nothing but how soon something is found out depends on it. With `replay` every decision is made again at the end.
    With a `hub` most of the jobs are applied there, and so are the settings of the fleet; with `companions` some of
    these name ConfigMaps and Secrets of the hub, and with `schedules` there are some that make more of them. With a
    `keeper` manifests are removed from the record some minutes after the end of their jobs. Where there are `idle`
    resources nodes list them, too, and jobs ask for them. With `evictions` there are priorities, guaranteed shares that
    are lent and wanted back, and little patience."""

    seed: int
    hours: float = 0.25
    clusters: int = 3
    profile: str = "rough"
    jobs: int = 24
    pace: float = 6.0
    replay: bool = False
    hub: bool = False
    companions: bool = False
    schedules: bool = False
    keeper: bool = False
    idle: bool = False
    evictions: bool = False

    @property
    def on_hub(self) -> int:
        """How many of the jobs are applied there."""
        return self.jobs * 2 // 3 if self.hub else 0

    @property
    def command(self) -> str:
        """What repeats it."""
        size = f"--hours {self.hours:g} --clusters {self.clusters} --jobs {self.jobs} --pace {self.pace:g}"
        more = {"hub": self.hub, "companions": self.companions, "schedules": self.schedules, "replay": self.replay}
        more |= {"keeper": self.keeper, "idle": self.idle, "evictions": self.evictions}
        flags = "".join(f" --{name}" for name, given in more.items() if given)
        return f"fairway simulate --seed {self.seed} {size} --profile {self.profile}{flags}"


class Breach(Struct, frozen=True):
    """`at` is in ms from the start of the run; `job` is empty where it is nobody's."""

    at: int
    rule: str
    job: str
    text: str


class RunOutcome(Struct, frozen=True):
    """`steps` are calls that processes made outside; `hours` those that passed, with the quiet at the end; `seconds`
    what the run took; `deaths` are processes that were killed, `drawn` counts what came from outside, by its name, and
    `decided_again` the decisions of each stage that were, with those that cannot be, as `unknown`.
    `story` is what was said of the first job that broke, until then."""

    plan: RunPlan
    seed: int
    steps: int
    violations: tuple[Breach, ...]
    state_hash: str
    jobs: int
    attempts: int
    deaths: int
    hours: float
    seconds: float
    drawn: dict[str, int] = {}
    decided_again: dict[str, int] = {}
    story: tuple[str, ...] = ()
