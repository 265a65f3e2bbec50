"""Templates in the files of a submission, copied into the jobs that refer to them; and the pods of a gang, into the one
that leads them. Pure."""

from collections.abc import Container, Sequence

from msgspec.structs import replace

from fairway.cli.manifests import JOB, TEMPLATE, Document
from fairway.wire.reasons import Code, Reason
from fairway.workloads.gangs.found_gang import POD, FoundGang, FoundPod, found_gang, found_pod, gang_of, whole_gang
from fairway.workloads.gangs.pods import GANG
from fairway.workloads.kinds.registry import KINDS, referred_kinds
from fairway.workloads.references import Reference, Referenced, WrittenOut, reference_of, referenced

_REMEDY = "name the file that it is in with -f, too, or apply both on the hub"


def written_out(documents: Sequence[Document]) -> list[Document]:
    """The same documents. Where none of the templates of a job are in the files, admission judges it as it is: of
    some namespaces it takes those whose templates are in the member clusters."""
    found = [referenced(one.key, one.manifest) for one in documents if one.role == TEMPLATE]
    templates = {one.reference: one for one in (*found, *_gangs(documents))}
    used: set[Reference] = set()
    made = [_written_out(one, templates, used) if one.role == JOB else one for one in documents]
    return [_unused(one, used) for one in made]


def _unused(one: Document, used: Container[Reference]) -> Document:
    """Marked, if it is a template that no job looked for."""
    is_template = one.key in referred_kinds() and not one.reasons
    return replace(one, unused=is_template and reference_of(one.key, one.manifest) not in used)


def _gangs(documents: Sequence[Document]) -> list[FoundGang]:
    gangs: dict[Reference, list[FoundPod]] = {}
    for one in documents:
        gang = _gang(one)
        if gang is not None and not one.reasons:
            gangs.setdefault(gang, []).append(found_pod(gang, one.manifest, one.manifest))
    return [found_gang(gang, pods) for gang, pods in gangs.items()]


def _gang(one: Document) -> Reference | None:
    """Which one the pod is of; None of what is none, or has the others in it already."""
    is_pod = one.key == POD and isinstance(one.manifest.get("metadata"), dict) and GANG not in one.manifest
    return gang_of(one.manifest) if is_pod else None


def _written_out(one: Document, templates: dict[Reference, Referenced], used: set[Reference]) -> Document:
    kind = KINDS.get(one.key)
    if kind is None:
        return one
    made = kind.written_out(one.manifest, templates.get)
    used.update(made.used)
    if _gang(one) is not None and _follows(one, templates, made):
        return replace(one, copied=True)
    if not made.wrong:
        return replace(one, manifest=made.manifest)
    if made.waits and not any(reference in templates for reference in made.used):
        return one
    return replace(one, reasons=tuple(map(_here, made.wrong)))


def _follows(one: Document, templates: dict[Reference, Referenced], made: WrittenOut) -> bool:
    """Whether the pod goes with another one of its gang, which is whole."""
    whole = whole_gang(one.manifest, templates.get)
    return whole is not None and not made.waits and not whole.wrong and not whole.led_by(one.manifest)


def _here(why: Reason) -> Reason:
    return replace(why, remedy=_REMEDY) if why.code is Code.UNKNOWN_TEMPLATE else why
