"""The pods of an Argo workflow, as its controller makes them (3.6, workflow/controller/workflowpod.go), and what
changes them otherwise.

Each template that runs a pod gives one: its container, script or container set, sidecars and init containers, with
what the workflow says for all. What the executor adds is the controller's own. `templateDefaults` are merged into
every template. Argo fills in parameters only inside strings, so a string that is compared as it stands here cannot
become an allowed one later; the keys of annotations can.
"""

from collections.abc import Iterator

from fairway.workloads.pod_security import marks, tenant
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.spelling import check_spelling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.workflow.pod_spec_patch import check_patch
from fairway.workloads.workflow.schema import check_marks, check_shape
from fairway.workloads.workflow.size_limits import steps, templates
from fairway.workloads.workflow.template_defaults import check_defaults

# workflow.serviceAccount.name of the chart argo-workflows, with a Role in each of its workflow namespaces.
ACCOUNT = "argo-workflow"
_LOCK = ("mutex", "semaphore")
_LOCKS = ("mutexes", "semaphores")


def pod_templates(manifest: Field) -> Iterator[Pod]:
    """First what all pods have in common, as a pod without containers."""
    spec = manifest["spec"]
    yield _shared(spec)
    defaults = spec["templateDefaults"]
    for template in templates(spec):
        yield _pod(PodView(template, defaults) if defaults.given else PodView(template), spec)


def _shared(spec: Field) -> Pod:
    moved = {
        "priorityClassName": PodView(spec["podPriorityClassName"]),
        **{name: PodView(spec[name]) for name in ("hostNetwork", "securityContext", "schedulerName", "tolerations")},
        **{name: PodView(spec[name]) for name in ("volumes", "serviceAccountName", "automountServiceAccountToken")},
    }
    nothing = Field({}, spec.problems, spec.up, "spec")
    described = PodView(spec["podMetadata"]), PodView(nothing, moved=moved)
    return Pod(lambda: described, (spec["serviceAccountName"],))


def _pod(template: PodView, spec: Field) -> Pod:
    own = ("container", "script")
    main = tuple(_called("main", template[name]) for name in own if template[name].given)
    inside = template["containerSet"]["containers"].items() if template["containerSet"].given else ()
    context = template["securityContext"]
    moved = {
        "containers": PodView(template["sidecars"].place, entries=(*main, *inside, *template["sidecars"].items())),
        "serviceAccountName": PodView(*template["serviceAccountName"].places, spec["serviceAccountName"]),
        "securityContext": context if context.given else PodView(spec["securityContext"]),
        **{name: template[name] for name in ("initContainers", "volumes", "tolerations", "schedulerName")},
        **{name: template[name] for name in ("priorityClassName", "automountServiceAccountToken")},
    }
    nothing = Field({}, spec.problems, template.places[0].up, template.places[0].key)
    described = template["metadata"], PodView(nothing, moved=moved)
    return Pod(lambda: described, moved["serviceAccountName"].places)


def _called(name: str, container: PodView) -> PodView:
    return PodView(
        *container.places, moved={"name": PodView(Field(name, container.place.problems, container.place, "name"))}
    )


def besides(manifest: Field, ruling: Ruling) -> None:
    spec = manifest["spec"]
    check_shape(spec)
    _marks(manifest["metadata"], ruling)
    _marks(spec["workflowMetadata"], ruling)
    tenant.labels(PodView(spec["workflowMetadata"]["labels"]), ruling)
    tenant.labels(PodView(spec["workflowMetadata"]["labelsFrom"]), ruling)
    check_spelling(spec, ruling)
    _elsewhere(spec["workflowTemplateRef"], ruling)
    _metadata(spec["podMetadata"], ruling)
    check_patch(spec["podSpecPatch"], ruling)
    _executor(spec, ruling)
    _hooks(spec, ruling)
    _collector(spec["artifactGC"], ruling)
    check_patch(spec["artifactGC"]["podSpecPatch"], ruling)
    _artifacts(spec["arguments"], ruling)
    namespace = manifest["metadata"]["namespace"].text() or "default"
    _locks(spec["synchronization"], namespace, ruling)
    if spec["templateDefaults"].given:
        check_defaults(spec["templateDefaults"], ruling)
    for template in (*((spec["templateDefaults"],) if spec["templateDefaults"].given else ()), *templates(spec)):
        _template(template, spec, ruling)
        _locks(template["synchronization"], namespace, ruling)


def _marks(metadata: Field, ruling: Ruling) -> None:
    """Of the workflow itself, and what its controller is told to write there."""
    for name in ("labels", "annotations", "labelsFrom"):
        check_marks(metadata[name], ruling)


def _template(template: Field, spec: Field, ruling: Ruling) -> None:
    _metadata(template["metadata"], ruling)
    check_patch(template["podSpecPatch"], ruling)
    _executor(template, ruling)
    for side in ("inputs", "outputs"):
        _artifacts(template[side], ruling)
    for step in steps(template):
        _elsewhere(step["templateRef"], ruling)
        _hooks(step, ruling)
        _artifacts(step["arguments"], ruling)
    if template["resource"].given:
        _resource(template, spec, ruling)
    for name, plugin in template["plugin"].pairs():
        account = f"{name}-executor-plugin"
        if account not in ruling.tenancy.service_accounts:
            text = f"runs a plugin of the cluster as the service account {shown(account)}"
            ruling.unlisted(PodView(plugin), text, tenant.ACCOUNTS, "use a container")


def _resource(template: Field, spec: Field, ruling: Ruling) -> None:
    """It makes any object that its account may make, so the account has to be one that was given to the tenant."""
    named = template["serviceAccountName"].text() or spec["serviceAccountName"].text()
    account = named or (tenant.DEFAULT if ruling.tenancy.tokens else ruling.account)
    if account not in ruling.tenancy.service_accounts:
        text = f"changes objects of the cluster with the rights of the service account {shown(account)}"
        otherwise = "submit that object to Fairway as a job, or name an account that is listed"
        ruling.unlisted(PodView(template["resource"]), text, tenant.ACCOUNTS, otherwise)


def _elsewhere(reference: Field, ruling: Ruling) -> None:
    if reference.given:
        text = "names a template that lies in a cluster, where Fairway cannot look at it"
        ruling.unseen(PodView(reference), text, "apply both on the hub, or submit them in one file")


def _hooks(holder: Field, ruling: Ruling) -> None:
    for _, hook in holder["hooks"].pairs():
        _elsewhere(hook["templateRef"], ruling)


def _executor(holder: Field, ruling: Ruling) -> None:
    _account(holder["executor"]["serviceAccountName"], ruling)


def _artifacts(holder: Field, ruling: Ruling) -> None:
    for artifact in holder["artifacts"].items():
        if artifact["artifactGC"].given:
            _collector(artifact["artifactGC"], ruling)


def _collector(collector: Field, ruling: Ruling) -> None:
    """The pod that removes artifacts."""
    _metadata(collector["podMetadata"], ruling)
    _account(collector["serviceAccountName"], ruling)


def _account(field: Field, ruling: Ruling) -> None:
    tenant.account(PodView(field), ruling)


def _metadata(metadata: Field, ruling: Ruling) -> None:
    tenant.labels(PodView(metadata["labels"]), ruling)
    for name in ("labels", "annotations"):
        marks.check_marks(PodView(metadata[name]), ruling)
        check_marks(metadata[name], ruling)
    for key, value in metadata["annotations"].pairs():
        if "{{" in key:
            ruling.unseen(PodView(value), "is an annotation whose name is filled in only at run time")


def _locks(synchronization: Field, namespace: str, ruling: Ruling) -> None:
    """Mutexes and semaphores of the workflow's own namespace alone, however it is written. Argo knows them by namespace
    and name, and lets any workflow take those of any: whoever holds another's keeps the other's jobs from running."""
    if not synchronization.given:
        return
    locks = [synchronization[name] for name in _LOCK]
    locks += [lock for name in _LOCKS for lock in synchronization[name].items()]
    for lock in locks:
        named = lock["namespace"]
        if named.value not in (None, "", namespace):
            late = isinstance(named.value, str) and "{{" in named.value
            text = "names a namespace only at run time" if late else f"takes a lock of namespace {shown(named.value)}"
            ruling.never(PodView(named), text, f"leave it out: locks are those of {namespace}")
