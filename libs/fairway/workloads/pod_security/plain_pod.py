"""A pod that says nothing but what is harmless whatever its value, or is looked at by whoever reads these structs.

`nothing_to_rule_on` goes by the names of these fields; and a manifest is decoded into them where it says no more. What
an operator or a person writes beside them is for the rules. What is `Any` may hold anything, and names of other objects
(`open_fields`); everything else holds none.
"""

from typing import Annotated, Any

from msgspec import Meta, Raw, Struct, field

from fairway.workloads.reading.pods import MOST_CONTAINERS

_FEW = Meta(max_length=MOST_CONTAINERS)
NOTHING = Raw(b"null")
Scalar = str | int | float | bool | None


class PlainVariable(Struct, forbid_unknown_fields=True, gc=False):
    name: Scalar = None
    value: Scalar = None


class PlainPort(Struct, forbid_unknown_fields=True, gc=False, rename="camel"):
    container_port: Scalar = None
    name: Scalar = None
    protocol: Scalar = None


class PlainVolume(Struct, forbid_unknown_fields=True, rename="camel"):
    config_map: Any = None
    downward_api: Any = field(default=None, name="downwardAPI")
    empty_dir: Any = None
    name: Scalar = None
    persistent_volume_claim: Any = None


class PlainContainer(Struct, forbid_unknown_fields=True, rename="camel"):
    args: list[str] | None = None
    command: list[str] | None = None
    env: list[PlainVariable] | None = None
    image: Scalar = None
    image_pull_policy: Scalar = None
    name: Scalar = None
    ports: list[PlainPort] | None = None
    resources: Raw = NOTHING
    restart_policy: Scalar = None
    stdin: Scalar = None
    termination_message_path: Scalar = None
    termination_message_policy: Scalar = None
    tty: Scalar = None
    volume_mounts: Any = None
    working_dir: Scalar = None


class PlainPodSpec(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    active_deadline_seconds: Scalar = None
    affinity: Raw = NOTHING
    containers: Annotated[list[PlainContainer], Meta(min_length=1, max_length=MOST_CONTAINERS)]
    dns_config: Any = None
    dns_policy: Scalar = None
    enable_service_links: Scalar = None
    hostname: Scalar = None
    image_pull_secrets: Any = None
    init_containers: Annotated[list[PlainContainer], _FEW] = []
    node_selector: Raw = NOTHING
    overhead: Any = None
    priority_class_name: str | None = None
    resources: Any = None
    restart_policy: Scalar = None
    scheduling_gates: Any = None
    subdomain: Scalar = None
    termination_grace_period_seconds: Scalar = None
    tolerations: Raw = NOTHING
    topology_spread_constraints: Any = None
    volumes: Annotated[list[PlainVolume], _FEW] = []


def open_fields(spec: PlainPodSpec) -> bool:
    """Whether there are any in which other objects may be named. What is Raw is for its reader to look at."""
    return (
        bool(spec.volumes)
        or spec.image_pull_secrets is not None
        or spec.topology_spread_constraints is not None
        or spec.scheduling_gates is not None
        or spec.dns_config is not None
        or any(one.volume_mounts is not None for one in (*spec.containers, *spec.init_containers))
    )


def names(struct: type[Struct]) -> frozenset[str]:
    """Those of its fields, as a manifest writes them."""
    return frozenset(struct.__struct_encode_fields__)
