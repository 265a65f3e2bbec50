"""A TrainJob with the runtime that it names in it, as `spec.runtime`.

What it says of the runtime's pods and of the JobSet that will be made (podTemplateOverrides, labels, annotations) is
merged into that copy, so that what is sized and checked is all there is. `trainer` and `initializer` stay: the trainer
works more out of them than sizes (pods.py).
"""

import msgspec

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field, Problems, shown
from fairway.workloads.reading.names import check_labels, is_name, is_namespace
from fairway.workloads.reading.parse import LARGEST_TEXT, too_deep
from fairway.workloads.references import Find, Json, Reference, WrittenOut, not_there
from fairway.workloads.trainjob.overrides import overridden, within

GROUP = "trainer.kubeflow.org"
TRAINING_RUNTIME = f"TrainingRuntime.{GROUP}/v1alpha1"
CLUSTER_TRAINING_RUNTIME = f"ClusterTrainingRuntime.{GROUP}/v1alpha1"
_KINDS = {one.partition(".")[0]: one for one in (TRAINING_RUNTIME, CLUSTER_TRAINING_RUNTIME)}
_MERGED = ("podTemplateOverrides", "labels", "annotations")
_encode = msgspec.json.Encoder(order="deterministic").encode


def written_out(manifest: Json, find: Find) -> WrittenOut:
    problems = Problems()
    spec = Field(manifest, problems)["spec"]
    if not isinstance(spec.value, dict) or not isinstance(spec["runtimeRef"].value, dict) or spec["runtime"].given:
        return WrittenOut(manifest)
    if too_deep(_encode(manifest)):
        return WrittenOut(manifest)  # nobody takes it
    named = _reference(spec["runtimeRef"], _namespace(manifest))
    if named is None:
        return WrittenOut(manifest, (), tuple(problems.reasons))
    runtime = _runtime(named, find, spec["runtimeRef"])
    if runtime is None:
        return WrittenOut(manifest, (named,), tuple(problems.reasons))
    kept = {name: value for name, value in spec.value.items() if name not in ("runtimeRef", *_MERGED)}
    made = {**manifest, "spec": {**kept, "runtime": _with(runtime, spec)}}
    if not problems and len(_encode(made)) > LARGEST_TEXT:
        text = f"has more than {LARGEST_TEXT} bytes with its runtime"
        spec.wrong(text, "make one of them smaller; large data belongs in a ConfigMap or a volume", Code.TOO_LARGE)
    return WrittenOut(manifest if problems else made, (named,), tuple(problems.reasons))


def _reference(ref: Field, namespace: str) -> Reference | None:
    ref["apiGroup"].choice(GROUP)
    kind = _KINDS[ref["kind"].choice("ClusterTrainingRuntime", "TrainingRuntime")]
    name = ref["name"].value
    if not isinstance(name, str) or not is_name(name):
        ref["name"].wrong(f"is {shown(name)}, which is no name of an object", "name the runtime")
    if ref.problems:
        return None
    return Reference(kind, namespace if kind == TRAINING_RUNTIME else "", name)


def _namespace(manifest: Json) -> str:
    meta = manifest.get("metadata")
    named = meta.get("namespace") if isinstance(meta, dict) else None
    return named if isinstance(named, str) and is_namespace(named) else "default"


def _runtime(named: Reference, find: Find, place: Field) -> Json | None:
    found = find(named)
    if found is None:
        not_there(place, named)
        return None
    if len(found.spec) > LARGEST_TEXT or too_deep(found.spec):
        text = f"leads to {named.words}, which is nested too deep or has more than {LARGEST_TEXT} bytes"
        place.wrong(text, "make it smaller", Code.TOO_LARGE)
        return None
    spec = msgspec.json.decode(found.spec)
    return spec if isinstance(spec, dict) else {}


def _with(runtime: Json, spec: Field) -> Json:
    """`runtime`, which was read for this, with what the TrainJob says of its pods and of its JobSet."""
    template = within(runtime, "template")
    for name in ("labels", "annotations"):
        if own := spec[name].mapping():
            metadata = within(template, "metadata")
            metadata[name] = {**within(metadata, name), **own}
    check_labels(spec["labels"])
    jobs = within(template, "spec").get("replicatedJobs")
    listed = jobs if isinstance(jobs, list) else []
    overridden(spec["podTemplateOverrides"], [one for one in listed if isinstance(one, dict)])
    return runtime
