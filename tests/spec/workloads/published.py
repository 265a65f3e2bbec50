"""The example jobs that operators publish with their sources, and the schedules of jobs.

`python -m tests.spec.workloads.published` writes our verdict on each of them down, by its name; the
examples themselves are not kept here.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import yaml

from fairway.domain.tenancy.profile import PRIVILEGED, Tenancy
from fairway.lab.kubereal import build
from fairway.lab.kubereal.sources.examples import MODULES, folder, is_example
from fairway.wire.reasons import Refused
from fairway.wire.workload import Toleration
from fairway.workloads.kinds import registry
from fairway.workloads.reading.parse import with_name
from fairway.workloads.references import Find, Reference, Referenced, referenced
from fairway.workloads.schedules.registry import SCHEDULES
from tests.cases.pod_flaws import Json
from tests.mappings import every_mapping

VERDICTS = Path(__file__).parent / "fixtures" / "published" / "verdicts.yaml"
ACCEPTED = "accepted"
# No YAML: nobody can say what is in it.
UNREADABLE = "unreadable"
_JUDGED = registry.KINDS.keys() | SCHEDULES.keys()
# What an API server has written into a schedule by the time that its first run is made.
_APPLIED = {"namespace": "default", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}


def source(module: str) -> Path:
    """Where `make kubernetes` keeps what it fetched."""
    kept = folder(build.cache())
    assert kept.is_dir(), "the examples that operators publish are not here yet: make kubernetes"
    return kept / module


@cache
def verdicts(module: str, profile: bool = False) -> dict[str, str]:
    """By file, and by number where a file holds several jobs. `profile`: in a namespace for which an administrator
    allows all that a TenantProfile can allow."""
    find = _templates(source(module)).get
    return {name: verdict(job, find, _allowed if profile else _nothing) for name, job in _jobs(source(module))}


def _nothing(job: Json) -> Tenancy:
    return Tenancy("x")


def _allowed(job: Json) -> Tenancy:
    names = frozenset(text for one in every_mapping(job) for text in one.values() if isinstance(text, str))
    return Tenancy(
        "x",
        level=PRIVILEGED,
        service_accounts=names | {"default"},
        schedulers=names,
        runtime_classes=names,
        tolerations=frozenset([Toleration(operator="Exists")]),
        tokens=True,
    )


def verdict(job: Json | None, find: Find, may: Callable[[Json], Tenancy] = _nothing) -> str:
    """`accepted`, or the first field that is refused with the cause, or with what of a TenantProfile would allow it. Of
    a schedule: what is said of it, or of its first run."""
    if job is None:
        return UNREADABLE
    try:
        one = _first_run(job) if _kind(job) in SCHEDULES else with_name(job, "x")
        made = registry.KINDS[_kind(one)].written_out(one, find)
        if made.wrong:
            raise Refused(*made.wrong)
        registry.read(made.manifest, may=lambda _: may(one))
    except Refused as error:
        return "; ".join(
            dict.fromkeys(f"{one.code.value} {one.field} ({_allowing(one.remedy)})" for one in error.reasons)
        )
    return ACCEPTED


def _first_run(schedule: Json) -> Json:
    """As the hub makes it. Raises Refused for a schedule that it does not take."""
    kind = SCHEDULES[_kind(schedule)]
    applied = {**schedule, "metadata": {**_APPLIED, **schedule["metadata"]}}
    known = kind.read(applied)
    at = known.next(known.since)
    assert at is not None, "an example that never runs is none"
    return kind.run_of(applied, at)


def _allowing(remedy: str) -> str:
    words = remedy.split()
    return f"{words[at]} {words[at + 1].strip(',')}" if (at := _at(words)) >= 0 else "nobody"


def _at(words: list[str]) -> int:
    return words.index("TenantProfile") if "TenantProfile" in words else -1


def _jobs(module: Path) -> Iterator[tuple[str, Json | None]]:
    """None stands for what cannot be read."""
    for path in _examples(module):
        found = [one for one in documents(path) if one is None or _kind(one) in _JUDGED]
        for number, one in enumerate(found, 1):
            yield f"{path.relative_to(module)}{f' ({number})' if len(found) > 1 else ''}", one


def _templates(module: Path) -> dict[Reference, Referenced]:
    """What jobs refer to, where they are applied together."""
    kinds = registry.referred_kinds()
    every = (one for path in _examples(module) for one in documents(path))
    found = [one for one in every if one is not None and _kind(one) in kinds]
    return {one.reference: one for one in (referenced(_kind(each), each) for each in found)}


def _examples(module: Path) -> list[Path]:
    return [path for path in sorted(module.rglob("*.yaml")) if is_example(path.relative_to(module))]


def _kind(one: Json) -> str:
    return f"{one.get('kind')}.{one.get('apiVersion')}"


def documents(path: Path) -> list[Json | None]:
    """Up to what cannot be read, for which None stands: behind it nobody knows where a document begins."""
    found: list[Json | None] = []
    try:
        for one in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            if isinstance(one, dict):
                found.append(one)
    except yaml.YAMLError:
        found.append(None)
    return found


if __name__ == "__main__":
    VERDICTS.parent.mkdir(exist_ok=True)
    VERDICTS.write_text(yaml.safe_dump({module: verdicts(module) for module in MODULES}, width=1000, sort_keys=False))
