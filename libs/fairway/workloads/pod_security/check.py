"""Everything that is looked at before a job may run: its pods, and what its kind adds to them."""

from fairway.domain.tenancy import Tenancy
from fairway.workloads.fields import Field
from fairway.workloads.kind import Kind
from fairway.workloads.pod_security import baseline, restricted, tenant
from fairway.workloads.pod_security.ruling import Ruling


def check(kind: Kind, manifest: Field, tenancy: Tenancy) -> None:
    """Notes every refusal in the manifest's problems. The manifest has been read: its shape is that of its kind."""
    ruling = Ruling(tenancy, kind.account)
    bound = bool(ruling.restricted or tenancy.priority_classes)
    for pod in kind.pod_templates(manifest):
        if not bound and pod.quiet():
            continue
        tenant.check(pod, ruling, kind.schedulers)
        if not ruling.privileged:
            baseline.check(pod, ruling)
        if ruling.restricted:
            restricted.check(pod, ruling)
    if kind.besides:
        kind.besides(manifest, ruling)
