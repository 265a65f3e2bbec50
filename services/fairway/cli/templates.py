"""Templates in the files of a submission, copied into the jobs that refer to them. Pure."""

from collections.abc import Sequence

from msgspec.structs import replace

from fairway.cli.manifests import JOB, TEMPLATE, Document
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.references import Reference, Referenced, referenced

_REMEDY = "name the file that it is in with -f, too, or apply both on the hub"


def written_out(documents: Sequence[Document]) -> list[Document]:
    """The same documents. Where none of the templates of a job are in the files, admission judges it as it is: of
    some namespaces it takes those whose templates are in the member clusters."""
    found = [referenced(one.key, one.manifest) for one in documents if one.role == TEMPLATE]
    templates = {one.reference: one for one in found}
    return [_written_out(one, templates) if one.role == JOB else one for one in documents]


def _written_out(one: Document, templates: dict[Reference, Referenced]) -> Document:
    kind = KINDS.get(one.key)
    if kind is None:
        return one
    made = kind.written_out(one.manifest, templates.get)
    if not made.wrong:
        return replace(one, manifest=made.manifest)
    if made.waits and not any(reference in templates for reference in made.used):
        return one
    return replace(one, reasons=tuple(map(_here, made.wrong)))


def _here(why: Reason) -> Reason:
    return replace(why, remedy=_REMEDY) if why.code is Code.UNKNOWN_TEMPLATE else why
