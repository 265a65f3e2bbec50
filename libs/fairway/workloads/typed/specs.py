"""Manifests of the usual kinds as structs: every field that may stand there is named. What is `Any` may name other
objects, and whoever reads it looks whether it is there."""

from typing import Annotated, Any

from msgspec import Meta, Raw, Struct

from fairway.workloads.pod_security.plain_pod import Scalar
from fairway.workloads.reading.pods import MOST_POD_SETS, MOST_PODS
from fairway.workloads.typed.pods import PodTemplate

_Number = Annotated[int, Meta(ge=0, le=MOST_PODS)] | None


class Metadata(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The object's own, and what API servers write there."""

    annotations: dict[str, str] | None = None
    creation_timestamp: Any = None
    finalizers: Any = None
    generate_name: Any = None
    generation: Any = None
    labels: dict[str, str] | None = None
    managed_fields: Any = None
    name: str
    namespace: str | None = None
    resource_version: Any = None
    uid: Any = None


class SchedulingPolicy(Struct, forbid_unknown_fields=True, rename="camel"):
    min_available: Annotated[int, Meta(ge=0)] | None = None
    min_resources: Any = None
    schedule_timeout_seconds: Scalar = None


class RunPolicy(Struct, forbid_unknown_fields=True, rename="camel"):
    active_deadline_seconds: Scalar = None
    backoff_limit: Scalar = None
    clean_pod_policy: Scalar = None
    managed_by: Scalar = None
    scheduling_policy: SchedulingPolicy | None = None
    suspend: Scalar = None
    ttl_seconds_after_finished: Scalar = None


class RoleSpec(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    replicas: _Number = None
    restart_policy: Scalar = None
    template: PodTemplate


class TrainingSpec(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    clean_pod_policy: Scalar = None
    launcher_creation_policy: Scalar = None
    mpi_implementation: Scalar = None
    nproc_per_node: Scalar = None
    run_launcher_as_worker: Scalar = None
    run_policy: RunPolicy | None = None
    slots_per_worker: Scalar = None
    ssh_auth_mount_path: Scalar = None
    success_policy: Any = None
    # Under another name in each kind.
    replicas: dict[str, RoleSpec]


class Task(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    depends_on: Any = None
    max_retry: Scalar = None
    min_available: _Number = None
    name: str | None = None
    policies: Any = None
    replicas: _Number = None
    template: PodTemplate


class BatchSpec(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    active_deadline_seconds: Scalar = None
    backoff_limit: Scalar = None
    backoff_limit_per_index: Scalar = None
    completion_mode: Scalar = None
    completions: _Number = None
    manual_selector: Scalar = None
    max_failed_indexes: Scalar = None
    parallelism: _Number = None
    pod_failure_policy: Any = None
    pod_replacement_policy: Scalar = None
    selector: Any = None
    success_policy: Any = None
    suspend: Scalar = None
    template: PodTemplate
    ttl_seconds_after_finished: Scalar = None


class VolcanoSpec(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    max_retry: Scalar = None
    min_available: Annotated[int, Meta(ge=0)] | None = None
    min_success: Scalar = None
    plugins: dict[str, list[str] | None] = {}
    policies: Any = None
    queue: str = ""
    scheduler_name: str | None = None
    tasks: Annotated[list[Task], Meta(min_length=1, max_length=MOST_POD_SETS)]
    ttl_seconds_after_finished: Scalar = None


class ManifestHead(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    api_version: str
    kind: str
    metadata: Metadata
    spec: Raw
    status: Any = None
