"""What a real API server refuses beyond bad metadata: shapes of a Job, fields that may not change, late finalizers.

There are no schemas here: a field that nobody knows is stored, and a wrong type is found by whoever reads it.
"""

from typing import Any

from fairway.lab.kubesim.api.errors import Json, invalid
from fairway.lab.kubesim.api.registry import ApiResource

Faults = list[tuple[str, str]]
# Of a suspended Job's template these may still change (k8s.io/kubernetes, pkg/apis/batch/validation).
_LATE = ("nodeSelector", "affinity", "tolerations", "schedulingGates")


def check_shape(resource: ApiResource, obj: Json) -> None:
    """422 for a batch/v1 Job that no controller could run."""
    if resource.storage != "jobs.batch":
        return
    spec: Json = obj.get("spec") or {}
    faults = [
        (f"spec.{field}", f"Invalid value: {spec[field]}: must be greater than or equal to 0")
        for field in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished")
        if isinstance(spec.get(field), int) and spec[field] < 0
    ]
    pod: Json = (spec.get("template") or {}).get("spec") or {}
    if not pod.get("containers"):
        faults.append(("spec.template.spec.containers", "Required value"))
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        text = 'Required value: valid values: "OnFailure", "Never"'
        faults.append(("spec.template.spec.restartPolicy", text))
    if faults:
        raise invalid(resource.group_kind, obj["metadata"]["name"], faults)


def check_frozen(resource: ApiResource, old: Json, new: Json) -> None:
    """422 when fields that the real kind keeps immutable would change (batch/v1 Job; pod requests), or when an object
    that is being deleted would get another finalizer."""
    faults = _finalizers(old["metadata"], new["metadata"])
    before = old.get("spec") or {}
    after = new.get("spec") or {}
    fields: tuple[str, ...] = ()
    if resource.storage == "jobs.batch":
        fields = ("selector", "completions", "completionMode")
        if _template(old, before) != _template(old, after):
            faults.append(("spec.template", "Invalid value: field is immutable"))
    elif resource.storage == "pods":
        fields = ("containers", "initContainers", "nodeSelector", "affinity")
    faults += [
        (f"spec.{field}", f"Invalid value: {after.get(field)}: field is immutable")
        for field in fields
        if before.get(field) != after.get(field)
    ]
    if faults:
        raise invalid(resource.group_kind, new["metadata"]["name"], faults)


def _template(old: Json, spec: Json) -> Any:
    """What of the template may not change: all of it, once the job has started."""
    template: Json = spec.get("template") or {}
    was: Json = old.get("spec") or {}
    if not was.get("suspend") or (old.get("status") or {}).get("startTime"):
        return template
    pod: Json = template.get("spec") or {}
    return {key: value for key, value in pod.items() if key not in _LATE}


def _finalizers(before: Json, after: Json) -> Faults:
    late = [one for one in after.get("finalizers") or () if one not in (before.get("finalizers") or ())]
    if not late or not before.get("deletionTimestamp"):
        return []
    text = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers"
    return [("metadata.finalizers", f"{text} {late}")]
