"""The scenario as values: who submits what, when, and what must be true in the end."""

from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from fairway.cli.dry_run import policies_for
from fairway.cli.manifests import JOB, POLICY, SETTING, Document, read_all
from fairway.client.failure import ERROR, Failure
from fairway.workloads.companions.apart import apart


class Mark(Struct, frozen=True, forbid_unknown_fields=True):
    """Something said of a job (`namespace/name`) on the bus. What is empty is not asked for."""

    job: str
    says: str
    why: str = ""
    cluster: str = ""
    attempt: int = 0
    verdicts: dict[str, str] = {}


class Role(Struct, frozen=True, forbid_unknown_fields=True):
    """One job: sent `by` hub, cli, http or bus, `after` something was said; cancelled, or asked why, at a mark."""

    job: str
    by: str
    end: str
    attempts: int = 1
    after: Mark | None = None
    cancel: Mark | None = None
    why: Mark | None = None


class Act(Struct, frozen=True, forbid_unknown_fields=True):
    """`after` is the act all of whose jobs must have ended before this one begins. What is told at the end is how the
    job that `claims` got its room, and why the one that was `evicted` for it had to go; empty: nothing."""

    name: str
    title: str
    jobs: tuple[Role, ...]
    record: tuple[Mark, ...] = ()
    after: str = ""
    claims: str = ""
    evicted: str = ""


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """`settings` and `manifests` are files and folders beside the scenario; `story` is the job told at the end."""

    settings: tuple[str, ...]
    manifests: tuple[str, ...]
    story: str
    acts: tuple[Act, ...]

    @property
    def roles(self) -> tuple[Role, ...]:
        return tuple(role for act in self.acts for role in act.jobs)


class DemoJob(Struct, frozen=True):
    """A job's manifest and the policies that select it."""

    manifest: dict[str, Any]
    policies: tuple[dict[str, Any], ...]


class Script(Struct, frozen=True):
    """The scenario with its manifests: `pieces` by `namespace/name`."""

    scenario: Scenario
    settings: tuple[dict[str, Any], ...]
    pieces: dict[str, DemoJob]


def load(path: Path) -> Script:
    """Raises Failure when the file or a manifest that it names is missing or wrong."""
    try:
        scenario = msgspec.convert(yaml.safe_load(path.read_bytes()), Scenario)
    except OSError as error:
        text = f"the demo's scenario cannot be read: {error.strerror}: {path}"
        raise Failure(ERROR, text, "name a file that is there with --scenario") from error
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise Failure(ERROR, f"{path} is no scenario: {error}") from error
    settings = [one for one in _documents(path, scenario.settings) if one.role == SETTING]
    documents = _documents(path, scenario.manifests)
    policies = [one for one in documents if one.role == POLICY]
    jobs = {f"{one.namespace}/{one.name}": one for one in documents if one.role == JOB}
    missing = sorted({role.job for role in scenario.roles} - set(jobs))
    if missing:
        raise Failure(
            ERROR, f"{path} names {missing[0]}, which no manifest describes", "add it to a file of `manifests`"
        )
    sent = {role.job: jobs[role.job] for role in scenario.roles}
    pieces = {name: DemoJob(job.manifest, tuple(policies_for(job, policies))) for name, job in sent.items()}
    return Script(scenario, tuple(one.manifest for one in settings), pieces)


def _documents(path: Path, names: tuple[str, ...]) -> list[Document]:
    """Without what is applied on a hub and sent along with jobs: no job here names any."""
    found = [one for one in read_all(str(path.parent / name) for name in names) if not apart(one.manifest)]
    broken = next((one for one in found if one.reasons), None)
    if broken is not None:
        raise Failure(ERROR, f"{broken.source}: {broken.reasons[0].text}", broken.reasons[0].remedy)
    return found
