"""The example jobs that operators publish with their sources.

`python -m tests.spec.workloads.published` writes our verdict on each of them down, by its name; the
examples themselves are not kept here.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fairway.domain.tenancy.profile import PRIVILEGED, Tenancy
from fairway.lab.kubereal import build
from fairway.lab.kubereal.sources.examples import MODULES, folder, is_example
from fairway.wire.reasons import Refused
from fairway.wire.workload import Toleration
from fairway.workloads.kinds import registry
from fairway.workloads.reading.parse import with_name
from fairway.workloads.references import Find, Reference, Referenced, referenced
from tests.cases.pod_flaws import Json
from tests.mappings import every_mapping

VERDICTS = Path(__file__).parent / "fixtures" / "published" / "verdicts.yaml"
ACCEPTED = "accepted"


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


def verdict(job: Json, find: Find, may: Callable[[Json], Tenancy] = _nothing) -> str:
    """`accepted`, or the first field that is refused with the cause, or with what of a TenantProfile would allow it."""
    made = registry.KINDS[f"{job['kind']}.{job['apiVersion']}"].written_out(with_name(job, "x"), find)
    try:
        if made.wrong:
            raise Refused(*made.wrong)
        registry.read(made.manifest, may=lambda _: may(job))
    except Refused as error:
        return "; ".join(
            dict.fromkeys(f"{one.code.value} {one.field} ({_allowing(one.remedy)})" for one in error.reasons)
        )
    return ACCEPTED


def _allowing(remedy: str) -> str:
    words = remedy.split()
    return f"{words[at]} {words[at + 1].strip(',')}" if (at := _at(words)) >= 0 else "nobody"


def _at(words: list[str]) -> int:
    return words.index("TenantProfile") if "TenantProfile" in words else -1


def _jobs(module: Path) -> Iterator[tuple[str, Json]]:
    for path in _examples(module):
        found = [one for one in _documents(path) if _kind(one) in registry.KINDS]
        for number, one in enumerate(found, 1):
            yield f"{path.relative_to(module)}{f' ({number})' if len(found) > 1 else ''}", one


def _templates(module: Path) -> dict[Reference, Referenced]:
    """What jobs refer to, where they are applied together."""
    kinds = registry.referred_kinds()
    found = [one for path in _examples(module) for one in _documents(path) if _kind(one) in kinds]
    return {one.reference: one for one in (referenced(_kind(each), each) for each in found)}


def _examples(module: Path) -> list[Path]:
    return [path for path in sorted(module.rglob("*.yaml")) if is_example(path.relative_to(module))]


def _kind(one: Json) -> str:
    return f"{one.get('kind')}.{one.get('apiVersion')}"


def _documents(path: Path) -> list[dict[str, Any]]:
    try:
        return [one for one in yaml.load_all(path.read_text(), yaml.CSafeLoader) if isinstance(one, dict)]
    except yaml.YAMLError:
        return []  # a template of a chart, or a text about YAML


if __name__ == "__main__":
    VERDICTS.parent.mkdir(exist_ok=True)
    VERDICTS.write_text(yaml.safe_dump({module: verdicts(module) for module in MODULES}, width=1000, sort_keys=False))
