"""The driver and the executors of a SparkApplication as pods, and what its sparkConf may say of them.

spark-submit runs with the rights of the operator, and sparkConf is the last word it hears: with it a job could choose
the namespace, read files of the operator's pod, or change its pods by files that nobody sees. So of the properties of
Kubernetes only those pass whose effect is known (Spark 3.5, running-on-kubernetes).
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from fairway.workloads.pod_security import tenant
from fairway.workloads.pod_security.baseline import APPARMOR, apparmor
from fairway.workloads.pod_security.marks import check_mark
from fairway.workloads.pod_security.nothing_to_rule_on import quiet_class
from fairway.workloads.pod_security.plain_secrets import plain_variable
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.spark.command_line import check_command

# Of the operator's chart 2.3.0, installed as `spark-operator` (spark-operator-chart/templates/spark/_helpers.tpl).
ACCOUNT = "spark-operator-spark"
_ROLES = ("driver", "executor")
_PREFIX = "spark.kubernetes."
_ACCOUNTS = re.compile(r"authenticate\.(driver|executor)\.serviceAccountName")
_SCHEDULERS = re.compile(r"((driver|executor)\.)?scheduler(\.n|N)ame")
_APPARMOR = re.compile(rf"(driver|executor)\.annotation\.{re.escape(APPARMOR)}.*")
_VOLUMES = re.compile(r"(driver|executor)\.volumes\.([A-Za-z]+)\..+")
_SECRETS = re.compile(r"(driver|executor)\.(secrets\.(?P<name>.+)|secretKeyRef\..+)")
_MARKS = re.compile(r"(driver|executor)\.(label|annotation)\.(?P<key>.+)")
_KNOWN = re.compile(
    r"container\.image(\.pullPolicy|\.pullSecrets)?|(driver|executor)\.container\.image"
    r"|(driver|executor)\.(request|limit)\.cores|memoryOverheadFactor|pyspark\.pythonVersion|local\.dirs\.tmpfs"
    r"|driver\.service\.(label|annotation)\..+|driverEnv\..+"
    r"|((driver|executor)\.)?node\.selector\..+|driver\.pod\.name|executor\.podNamePrefix"
    r"|allocation\.[A-Za-z.]+|executor\.(deleteOnTermination|rollInterval|rollPolicy|minTasksPerExecutorBeforeRolling"
    r"|apiPollingInterval|eventProcessingInterval|missingPodDetectDelta|enablePollingWithResourceVersion|decommissionLabel"
    r"|decommissionLabelValue|useDriverPodIP|listPodsFromCache)|dynamicAllocation\.deleteGracePeriod"
    r"|driver\.(ownPersistentVolumeClaim|reusePersistentVolumeClaim|waitToReusePersistentVolumeClaim|requestTimeout"
    r"|connectionTimeout)|submission\.(waitAppCompletion|connectionTimeout|requestTimeout)|report\.interval"
    r"|appKillPodDeletionGracePeriod|executor\.checkAllContainers|jars\.avoidDownloadSchemes"
)
# Where the driver is made, and files of whoever makes it.
_ELSEWHERE = re.compile(r"spark\.(master|submit\..+|remote|kerberos\..+|yarn\..+|jars\.ivySettings)")
_VARIABLE = re.compile(r"spark\.(?:kubernetes\.driverEnv|executorEnv)\.(.+)")
_LOOKED_AT = (_PREFIX, "spark.master", "spark.submit.", "spark.remote", "spark.kerberos.", "spark.yarn.", "spark.jars.")
# Of a role: sizes, and what is Spark's own.
_QUIET = frozenset(
    (
        "coreLimit",
        "coreRequest",
        "cores",
        "deleteOnTermination",
        "gpu",
        "image",
        "instances",
        "javaOptions",
        "labels",
        "memory",
        "memoryLimit",
        "memoryOverhead",
        "nodeSelector",
        "podName",
        "priorityClassName",
    )
)
_HOST = "hostPath"
_SAFE = ("emptyDir", "persistentVolumeClaim")


def pod_templates(manifest: Field) -> Iterator[Pod]:
    spec = manifest["spec"]
    for role in _ROLES:
        field = spec[role]
        quiet = partial(_quiet, spec.value, field.value)
        yield Pod(partial(_described, spec, role), _accounts(field), quiet)


def _accounts(field: Field) -> tuple[Field, ...]:
    own = field["serviceAccount"]
    return (field.at("template", "spec", "serviceAccountName"), own) if field["template"].given else (own,)


def _quiet(spec: Any, role: Any) -> bool:
    if type(spec) is not dict or type(role) is not dict or spec.get("volumes"):
        return False
    return _QUIET.issuperset(role) and quiet_class(role.get("priorityClassName")) and not spec.get("batchScheduler")


def _described(spec: Field, role: str) -> tuple[PodView, PodView]:
    """What the operator's webhook writes into a pod comes first, then the pod's template."""
    field = spec[role]
    template = spec[role]["template"]
    below = template["spec"]
    listed = below["containers"].items()
    first = listed[0] if listed else Field({}, spec.problems, field, "template")
    image = PodView(field["image"], first["image"], spec["image"])
    main = PodView(first, moved={**_main(role, field, first), "image": image})
    others = (*listed[1:], *field["sidecars"].items())
    moved = {
        "securityContext": PodView(field["podSecurityContext"], below["securityContext"]),
        "containers": PodView(field["sidecars"], entries=(main, *(PodView(one) for one in others))),
        "initContainers": _both(field["initContainers"], below["initContainers"]),
        "volumes": _both(spec["volumes"], below["volumes"]),
        "tolerations": _both(field["tolerations"], below["tolerations"]),
        "schedulerName": PodView(field["schedulerName"], below["schedulerName"], spec["batchScheduler"]),
        "serviceAccountName": PodView(*_accounts(field)),
        "hostNetwork": PodView(field["hostNetwork"], below["hostNetwork"]),
        "priorityClassName": PodView(field["priorityClassName"], below["priorityClassName"]),
    }
    metadata = {name: PodView(field[name], template["metadata"][name]) for name in ("annotations", "labels")}
    return PodView(template["metadata"], moved=metadata), PodView(below, moved=moved)


def _main(role: str, field: Field, first: Field) -> dict[str, PodView]:
    """The container that Spark runs in."""
    names = ("securityContext", "env", "envFrom", "lifecycle")
    called = Field(f"spark-kubernetes-{role}", field.problems, field, "name")
    return {"name": PodView(first["name"], called), **{name: PodView(field[name], first[name]) for name in names}}


def _both(one: Field, other: Field) -> PodView:
    return PodView(one, entries=tuple(PodView(entry) for entry in (*one.items(), *other.items())))


def _variables(spec: Field, conf: Field, ruling: Ruling) -> None:
    """Of driver and executors, where they stand in no `env`."""
    for role in _ROLES:
        for name, value in spec[role]["envVars"].pairs():
            plain_variable(name, PodView(value), ruling)
    for key in conf.mapping():
        if found := _VARIABLE.fullmatch(key):
            plain_variable(found[1], PodView(conf[key]), ruling)


def besides(manifest: Field, ruling: Ruling) -> None:
    spec = manifest["spec"]
    check_command(manifest, ruling)
    if spec["driver"]["kubernetesMaster"].given:
        ruling.unseen(
            PodView(spec["driver"]["kubernetesMaster"]), "sends the driver to another API server with its token"
        )
    tenant.priority(PodView(spec["batchSchedulerOptions"]["priorityClassName"]), ruling)
    if spec["batchScheduler"].value not in (None, "", "volcano"):
        tenant.scheduler(PodView(spec["batchScheduler"]), ruling)
    for role in _ROLES:
        for mounted in spec[role]["secrets"].items():
            tenant.secret(PodView(mounted["name"]), ruling)
        for _, ref in spec[role]["envSecretKeyRefs"].pairs():
            tenant.secret(PodView(ref["name"]), ruling)
    conf = spec["sparkConf"]
    _variables(spec, conf, ruling)
    for key in [key for key in conf.mapping() if key.startswith(_LOOKED_AT)]:
        field = conf[key]
        if key.startswith(_PREFIX):
            _property(key.removeprefix(_PREFIX), PodView(field), ruling)
        elif _ELSEWHERE.fullmatch(key):
            ruling.unseen(
                PodView(field), "says where the driver is made, or which files of the operator are read for it"
            )


def _property(name: str, value: PodView, ruling: Ruling) -> None:
    if _ACCOUNTS.fullmatch(name):
        tenant.account(value, ruling)
    elif _SCHEDULERS.fullmatch(name):
        tenant.scheduler(value, ruling, ("volcano",))
    elif volume := _VOLUMES.fullmatch(name):
        _volume(volume[2], value, ruling)
    elif _APPARMOR.fullmatch(name):
        apparmor(value, ruling)
    elif secret := _SECRETS.fullmatch(name):
        mounted = secret["name"] or str(value.value).partition(":")[0]
        named = Field(mounted, value.place.problems, value.place.up, value.place.key)
        tenant.secret(PodView(named), ruling)
    elif mark := _MARKS.fullmatch(name):
        check_mark(mark["key"], value, ruling)
    elif not _KNOWN.fullmatch(name):
        ruling.unseen(value, "changes the pods, or how they are made, in a way that Fairway cannot look at")


def _volume(kind: str, value: PodView, ruling: Ruling) -> None:
    if kind == _HOST:
        ruling.baseline(value, "mounts a path of the node")
    elif kind not in _SAFE:
        ruling.strict(value, f"mounts a volume of type {kind}")
