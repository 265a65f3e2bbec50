"""admission: what a job names counts only if its namespace may name it."""

from typing import Any

import msgspec
import pytest

from fairway.admission.decide import decide
from fairway.wire import fleet
from fairway.wire.reasons import Code
from fairway.workloads.crds.queue import KIND as QUEUE
from tests.spec.admission.test_decide import NOW, catalog, manifest, pods, policy, submitted, view
from tests.spec.builders.views import events

Json = dict[str, Any]
LABEL = "quota.scheduling.koordinator.sh/name"
OTHER = "quota.scheduling.alibabacloud.com/name"
ALLOW = "fairway.io/allow-namespaces"
TREE: Json = {
    "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
    "kind": "ElasticQuotaTree",
    "metadata": {"name": "tree", "namespace": "kube-system"},
    "spec": {
        "root": {
            "name": "root",
            "children": [
                {"name": "mine", "namespaces": ["team-a"]},
                {"name": "theirs", "namespaces": ["team-b"]},
                {"name": "open", "attributes": {ALLOW: "team-a"}},
            ],
        }
    },
}


def queue(name: str, allows: str = "", leaf: str = "", namespace: str = "kube-queue") -> Json:
    annotations = {ALLOW: allows} if allows else {}
    annotations |= {"kube-queue/quota-fullname": leaf} if leaf else {}
    meta = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": QUEUE, "metadata": meta, "spec": {}}


def profile(name: str = "a", **spec: Any) -> Json:
    spec = {"namespaces": ["team-a"], **spec}
    return {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": name}, "spec": spec}


HIGH = ("PriorityClass", "high", {"value": 9})
SYSTEM = ("PriorityClass", "system-node-critical", {"value": 2**31 - 1})
TREES = ("ElasticQuotaTree", "tree", TREE)
C2 = ("Cluster", "c2", {})


def granted(**spec: Any) -> tuple[str, str, Json]:
    return "TenantProfile", "a", profile(**spec)


def in_queue(name: str) -> Json:
    return manifest(annotations={"kube-queue/queue-name": name})


def template(**meta: Any) -> Json:
    body = manifest()
    body["spec"]["template"]["metadata"] = meta
    return body


def volcano(queue: str) -> Json:
    task = {"name": "t", "replicas": 1, "template": manifest()["spec"]["template"]}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {"queue": queue, "tasks": [task]},
    }


def sent(*along: Json) -> tuple[msgspec.Raw, ...]:
    return tuple(msgspec.Raw(msgspec.json.encode(one)) for one in along)


VOLCANO = policy("v")
VOLCANO["spec"]["resourceSelectors"][0]["apiVersion"] = "batch.volcano.sh/v1alpha1"


def decided(body: Json, *configured: tuple[str, str, Json], **more: Any) -> Any:
    more = {"policies": sent(policy(), VOLCANO), "delivered": 2, **more}
    heard = submitted(body, **more)
    (said,) = events(decide(view(heard, catalog(*configured)), heard, NOW))
    return said


NOT_YOURS: dict[str, tuple[Json, tuple[tuple[str, str, Json], ...], Code, str]] = {
    "the queue of others": (
        in_queue("gold"),
        ((QUEUE, "gold", queue("gold", "team-b")),),
        Code.NOT_YOUR_QUOTA,
        "Queue",
    ),
    "a queue that lists nobody": (in_queue("gold"), ((QUEUE, "gold", queue("gold")),), Code.NOT_YOUR_QUOTA, "Queue"),
    "a queue of another's leaf": (
        in_queue("gold"),
        (TREES, (QUEUE, "gold", queue("gold", leaf="root/theirs"))),
        Code.NOT_YOUR_QUOTA,
        "Queue",
    ),
    "a queue named as another's leaf": (
        in_queue("theirs"),
        (TREES, (QUEUE, "theirs", queue("theirs"))),
        Code.NOT_YOUR_QUOTA,
        "Queue",
    ),
    "a queue that the profile of another lists": (
        in_queue("gold"),
        ((QUEUE, "gold", queue("gold")), ("TenantProfile", "b", profile("b", namespaces=["b"], queues=["gold"]))),
        Code.NOT_YOUR_QUOTA,
        "Queue",
    ),
    "its pods name another's leaf, for the member": (
        template(labels={LABEL: "theirs"}),
        (TREES,),
        Code.NOT_YOUR_QUOTA,
        LABEL,
    ),
    "its pods name a leaf of the member alone": (template(labels={OTHER: "x"}), (TREES,), Code.UNKNOWN_QUOTA, OTHER),
    "its pods name another's Volcano queue": (
        template(annotations={"scheduling.volcano.sh/queue-name": "vip"}),
        (),
        Code.NOT_YOUR_QUOTA,
        "queue-name",
    ),
    "a Volcano Job of another's queue": (volcano("vip"), (), Code.NOT_YOUR_QUOTA, "spec.queue"),
    "a class of the system": (
        pods(priorityClassName="system-node-critical"),
        (SYSTEM,),
        Code.UNSAFE_POD,
        "priorityClassName",
    ),
    "a class beyond its profile": (
        pods(priorityClassName="high"),
        (HIGH, granted(priorityClasses=["low"])),
        Code.UNSAFE_POD,
        "priorityClassName",
    ),
}


@pytest.mark.parametrize(("body", "hub", "code", "field"), NOT_YOURS.values(), ids=list(NOT_YOURS))
def test_what_is_somebody_elses_is_refused_by_name(body: Json, hub: Any, code: Code, field: str) -> None:
    said = decided(body, *hub)
    assert said.verb == "rejected"
    (reason,) = said.reasons
    assert (reason.code, bool(reason.remedy)) == (code, True)
    assert field in reason.field or field in reason.text


OWN: dict[str, tuple[Json, tuple[tuple[str, str, Json], ...]]] = {
    "a queue that lists its namespace": (in_queue("gold"), ((QUEUE, "gold", queue("gold", "team-b, team-a")),)),
    "a queue of its own namespace": (in_queue("gold"), ((QUEUE, "gold", queue("gold", namespace="team-a")),)),
    "the queue of its leaf": (in_queue("gold"), (TREES, (QUEUE, "gold", queue("gold", leaf="root/mine")))),
    "the queue of a leaf that is open to it": (in_queue("open"), (TREES, (QUEUE, "open", queue("open")))),
    "a queue that its profile lists": (in_queue("gold"), ((QUEUE, "gold", queue("gold")), granted(queues=["gold"]))),
    "its pods name its own leaf": (template(labels={LABEL: "mine"}), (TREES,)),
    "its pods name a leaf of the member that its profile lists": (
        template(labels={LABEL: "x"}),
        (granted(quotaLeaves=["x"]),),
    ),
    "Volcano's queue for everybody": (volcano("default"), ()),
    "a Volcano queue of the namespace's name": (volcano("team-a"), ()),
    "a Volcano queue that its profile lists": (volcano("vip"), (granted(queues=["vip"]),)),
    "a class of the system that its profile lists": (
        pods(priorityClassName="system-node-critical"),
        (SYSTEM, granted(priorityClasses=["system-node-critical"])),
    ),
    "any class where no profile bounds them": (pods(priorityClassName="high"), (HIGH, granted(queues=["q"]))),
}


DEFAULT = ("PriorityClass", "usual", {"value": 7, "globalDefault": True})
DEFAULTS = {
    "where no profile bounds classes": ((DEFAULT,), 7),
    "where a profile lists it": ((DEFAULT, granted(priorityClasses=["usual", "low"])), 7),
    "none where a profile lists others": ((DEFAULT, granted(priorityClasses=["low"])), 0),
}


@pytest.mark.parametrize(("hub", "priority"), DEFAULTS.values(), ids=list(DEFAULTS))
def test_a_job_that_names_no_class_has_the_default(hub: Any, priority: int) -> None:
    assert decided(manifest(), *hub).spec.priority == priority


@pytest.mark.parametrize(("body", "hub"), OWN.values(), ids=list(OWN))
def test_what_is_its_own_or_open_to_it_is_taken(body: Json, hub: Any) -> None:
    assert decided(body, *hub).verb == "admitted"


def test_every_template_is_looked_at_and_not_only_the_one_whose_class_counts() -> None:
    role = {"replicas": 1, "template": manifest()["spec"]["template"]}
    sneaky = msgspec.json.decode(msgspec.json.encode(role))
    sneaky["template"]["spec"]["priorityClassName"] = "system-node-critical"
    body = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {"pytorchReplicaSpecs": {"Master": role, "Worker": sneaky}},
    }
    for one in (role, sneaky):
        one["template"]["spec"]["containers"][0]["name"] = "pytorch"
    mine = policy()
    mine["spec"]["resourceSelectors"] = [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}]
    said = decided(body, HIGH, SYSTEM, policies=sent(mine))
    assert (said.verb, said.reasons[0].code) == ("rejected", Code.UNSAFE_POD)


def test_whoever_names_a_queue_that_is_not_there_is_told_of_those_only_that_are_open_to_them() -> None:
    hub = (TREES, (QUEUE, "vip", queue("vip", "team-b")), (QUEUE, "gold", queue("gold", "team-a")))
    (reason,) = decided(in_queue("none"), *hub).reasons
    assert (reason.code, "gold" in reason.text, "vip" in reason.text) == (Code.UNKNOWN_QUEUE, True, False)


# Namespaces of the system.


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "fairway-system", "ops"])
def test_no_job_is_taken_in_a_namespace_of_the_system(namespace: str) -> None:
    hub = catalog()
    hub.reserved = frozenset({"ops"})
    own = {**policy(), "metadata": {"name": "all", "namespace": namespace}}
    heard = submitted(manifest(namespace=namespace), tenant=namespace, policies=sent(own))
    (said,) = events(decide(view(heard, hub), heard, NOW))
    (reason,) = said.reasons
    assert (reason.code, reason.field) == (Code.RESERVED_NAMESPACE, "metadata.namespace")


def test_a_profile_that_does_not_read_leaves_the_one_before_in_force() -> None:
    hub = catalog(granted(clusters=["c1"]))
    bad = msgspec.Raw(msgspec.json.encode(profile(cluster=["c1"])))
    hub.take(fleet.Configured(kind="TenantProfile", name="a", manifest=bad))
    assert hub.tenancy("team-a").clusters == {"c1"}
    hub.take(fleet.Configured(kind="TenantProfile", name="a"))
    assert hub.tenancy("team-a").clusters == frozenset()
