"""The components of an AppWrapper: which kinds they may be of, and whether they say nothing that AppWrapper 1.2 would
do with its own rights, or that Kueue would have put there.

Its controller makes what it is given: an object of any kind, with its own rights. So a component is of a kind whose
pods Fairway sizes and looks at, in the job's own namespace, and nothing else.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fairway.wire.capacity import PLACEHOLDERS
from fairway.wire.reasons import Code
from fairway.workloads.companions.apart import apart
from fairway.workloads.gangs.pod_groups import POD_GROUP
from fairway.workloads.gangs.pods import GANG
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import read_name
from fairway.workloads.reading.wrapped import WRAPPER

# Its webhook takes that many pod templates, and every component has one.
MOST = 8
# Of its annotations (api/v1beta2): the one with which pods of a failed job go on.
_LINGERS = "workload.codeflare.dev.appwrapper/deletionOnFailureGracePeriodDuration"


class Component(NamedTuple):
    """`template` is the object, `prefix` what its pod sets' names begin with."""

    entry: Field
    template: Field
    kind: Kind
    prefix: str


def may_be_wrapped(kind: Kind) -> bool:
    """Its pods come from templates of its manifest, and need nothing that Fairway puts beside it."""
    return (
        kind.name != WRAPPER and PLACEHOLDERS in kind.holds and not (kind.account or (kind.refers_to and not kind.bare))
    )


def components(manifest: Field, kinds: Mapping[str, Kind]) -> Iterator[Component]:
    """Those of a kind that may be one. Of any manifest, valid or not."""
    entries = manifest["spec"]["components"].items(MOST)
    for index, entry in enumerate(entries):
        template = entry["template"]
        kind = kinds.get(f"{template['kind'].text()}.{template['apiVersion'].text()}")
        if kind is not None and may_be_wrapped(kind):
            yield Component(entry, template, kind, f"{index}-" if len(entries) > 1 else "")


def check(manifest: Field, kinds: Mapping[str, Kind]) -> None:
    """Notes what no AppWrapper of the fleet may say."""
    listed = manifest["spec"]["components"]
    if listed.value in (None, []):
        listed.wrong("is empty", "add a component with the template of a job")
    note = manifest["metadata"]["annotations"][_LINGERS]
    if note.given:
        note.wrong("keeps pods of a failed job while its next attempt is placed", "remove it")
    fitting = {one.template.path for one in components(manifest, kinds)}
    for entry in listed.items(MOST):
        if entry["podSetInfos"].value:
            entry["podSetInfos"].wrong("is what Kueue puts into pods, and nobody has looked at it", "remove it")
        if entry["template"].path not in fitting:
            _refuse(entry["template"], kinds)
    templates = sum(
        1 for one in components(manifest, kinds) for pod in one.kind.pod_templates(one.template) if pod.template
    )
    if templates > MOST:
        listed.wrong(f"has {templates} pod templates, and an AppWrapper may have {MOST}", "make several jobs of it")
    taken: set[tuple[str, str]] = set()
    for one in components(manifest, kinds):
        _check_object(one, manifest["metadata"]["namespace"].value or "default")
        name = (one.kind.key, str(one.template["metadata"]["name"].value))
        if name in taken:
            one.template["metadata"]["name"].wrong(f"is a second {one.kind.name} {name[1]}", "give each its own name")
        taken.add(name)


def _refuse(template: Field, kinds: Mapping[str, Kind]) -> None:
    if not template.mapping():
        template.wrong("is missing", "write the object here that is to be made")
        return
    if why := apart(template.value):
        template["kind"].wrong(why.text, why.remedy, why.code)
        return
    told = f"{shown(template['kind'].value)} of {shown(template['apiVersion'].value)}"
    if template["kind"].value == WRAPPER:
        template["kind"].wrong("is an AppWrapper in another one", "list its components in this one")
        return
    known = ", ".join(sorted({one.name for one in kinds.values() if may_be_wrapped(one)}))
    text = f"{told} is no kind whose pods can be counted in an AppWrapper"
    template["kind"].wrong(text, f"use one of {known}, or declare the kind", Code.UNKNOWN_KIND)


def _check_object(one: Component, namespace: str) -> None:
    metadata = one.template["metadata"]
    read_name(metadata["name"], one.kind.name_limit, one.kind.makes_services)
    if metadata["namespace"].text(namespace) != namespace:
        metadata["namespace"].wrong(f"is not the AppWrapper's own, {namespace}", "leave it out")
    for field in (GANG, POD_GROUP) if one.kind.bare else ():
        if one.template[field].given:
            one.template[field].wrong("holds what nobody makes there", "list each pod as a component of its own")
    if one.kind.suspended(one.template.mapping()):
        path, remedy = one.kind.let_go
        one.template.at(*path.split(".")).wrong("holds a component that nobody lets go", remedy.partition(" to ")[0])
