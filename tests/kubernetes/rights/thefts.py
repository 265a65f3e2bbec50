"""What a thief tries with the token of Fairway's account in a member, and why he is refused."""

from typing import Any, NamedTuple

Json = dict[str, Any]
HOME = "fairway-system"
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}
SEAL = {"fairway.io/seal": "s"}
ENFORCE = "pod-security.kubernetes.io/enforce"
RBAC = "rbac.authorization.k8s.io"


class Try(NamedTuple):
    """A request, and what stands in the words with which it is refused."""

    method: str
    path: str
    body: Any
    cause: str


def space(name: str, **labels: str) -> Json:
    return {"metadata": {"name": name, "labels": labels}}


def tenant(name: str, level: str = "baseline") -> Json:
    return {"metadata": {"name": name, "labels": {"fairway.io/tenant": name, ENFORCE: level}}}


def job(namespace: str, name: str = "train", notes: Json | None = None, labels: Json | None = None) -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}
    notes = SEAL if notes is None else notes
    named = {"name": name, "namespace": namespace, "labels": OURS if labels is None else labels}
    return {"metadata": {**named, "annotations": notes}, "spec": {"suspend": True, "template": {"spec": pod}}}


def pod(name: str, labels: Json | None = None, gated: bool = True) -> Json:
    spec: Json = {"containers": [{"name": "c", "image": "x"}], "nodeSelector": {"no": "node"}}
    if gated:
        spec["schedulingGates"] = [{"name": "fairway.io/room"}, {"name": "of/others"}]
    return {"metadata": {"name": name, "labels": labels or {}, "annotations": {"note": "theirs"}}, "spec": spec}


EVIL = [{"op": "replace", "path": "/spec/containers/0/image", "value": "evil"}]
HELD = {**OURS, "fairway.io/job": "j2", "fairway.io/hold": "placeholders"}
JOBS = "batch/v1/namespaces/{}/jobs"
PODS = "v1/namespaces/{}/pods"


def role(name: str, **more: Any) -> Json:
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "fairway-tenant", **more.pop("ref", {})}
    subject = {"kind": "ServiceAccount", "name": "fairway-member", "namespace": HOME, **more.pop("subject", {})}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": [subject]}


BINDINGS = RBAC + "/v1/namespaces/{}/rolebindings"
FLOWS = "argoproj.io/v1alpha1/namespaces/{}/workflows"
ROOMS = "scheduling.koordinator.sh/v1alpha1/reservations"
DONE = {"status": {"phase": "Succeeded"}}


def flow(name: str, **more: Any) -> Json:
    made = job("team", name)
    steps = [{"name": "s", "container": {"name": "main", "image": "x", "command": ["x"]}}]
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}
    return {**head, "metadata": made["metadata"], "spec": {"entrypoint": "s", "templates": steps}, **more}


def volcano(name: str) -> Json:
    made = job("team", name)
    pod = made["spec"]["template"]
    tasks = [{"name": one, "replicas": 2, "template": pod} for one in ("t", "u")]
    head = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    return {**head, "metadata": made["metadata"], "spec": {"minAvailable": 2, "queue": "own", "tasks": tasks}}


def torch(name: str) -> Json:
    made = job("team", name)
    pod = {"spec": {"containers": [{"name": "pytorch", "image": "x"}]}}
    roles = {role: {"replicas": 2, "template": pod} for role in ("Master", "Worker")}
    head = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}
    return {**head, "metadata": made["metadata"], "spec": {"pytorchReplicaSpecs": roles}}


def reservation(name: str, labels: Json | None = None, **spec: Any) -> Json:
    pod = {"containers": [{"name": "c", "image": "x"}]}
    owners = [{"labelSelector": {"matchLabels": OURS}}]
    named = {"name": name, "labels": {**OURS, "fairway.io/hold": "reservations"} if labels is None else labels}
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    return {**head, "metadata": named, "spec": {"template": {"spec": pod}, "owners": owners, "ttl": "600s", **spec}}


TEAM = "v1/namespaces/team"
HELD_POD = PODS.format("team") + "/held"
BOUND_POD = PODS.format("team") + "/bound"
FLOW = FLOWS.format("team") + "/flow"
FIRST = JOBS.format("team") + "/first"
VOLCANO = "batch.volcano.sh/v1alpha1/namespaces/team/jobs/vc"
TORCH = "kubeflow.org/v1/namespaces/team/pytorchjobs/torch"
ONLY_IN_PLACE = "what its operator takes over while it runs"


def put(path: str, value: Any) -> Json:
    return [{"op": "add", "path": path, "value": value}]


GATES_ONLY = "takes scheduling gates away"
TRIES = {
    "a Job in kube-system": Try("POST", JOBS.format("kube-system"), job("kube-system"), "cannot create resource"),
    "a Job beside Fairway": Try("POST", JOBS.format(HOME), job(HOME), "cannot create resource"),
    "a Job in a stranger's namespace": Try("POST", JOBS.format("payments"), job("payments"), "cannot create resource"),
    "a Job without a seal": Try("POST", JOBS.format("team"), job("team", "x", {}), "fairway.io/seal"),
    "a Job with an empty seal": Try("POST", JOBS.format("team"), job("team", "x", {"fairway.io/seal": ""}), "seal"),
    "a Job of no job": Try("POST", JOBS.format("team"), job("team", "x", SEAL, {}), "the label fairway.io/job"),
    "a stranger's Job deleted": Try("DELETE", JOBS.format("payments") + "/theirs", None, "cannot delete resource"),
    "a stranger's Job beside a tenant's": Try(
        "DELETE", JOBS.format("team") + "/theirs", None, "not an object of Fairway"
    ),
    "rights in kube-system": Try("POST", BINDINGS.format("kube-system"), role("fairway-tenant"), "is not Fairway's"),
    "rights in a stranger's namespace": Try("POST", BINDINGS.format("payments"), role("fairway-tenant"), "no label"),
    "cluster-admin in a tenant's namespace": Try(
        "POST", BINDINGS.format("team"), role("x", ref={"name": "cluster-admin"}), "not currently held"
    ),
    "all its reads for another": Try("POST", BINDINGS.format("team"), role("x", subject={"name": "default"}), "nobody"),
    "his own account for the whole cluster": Try(
        "POST", f"{RBAC}/v1/clusterrolebindings", role("x", ref={"name": "cluster-admin"}), "cannot create resource"
    ),
    "a role that says more": Try(
        "PATCH", f"{RBAC}/v1/clusterroles/fairway-tenant", {"rules": []}, "cannot patch resource"
    ),
    "a namespace of nobody": Try("POST", "v1/namespaces", space("x"), "has the label fairway.io/tenant"),
    "a namespace of another tenant": Try(
        "POST", "v1/namespaces", space("x", **tenant("team")["metadata"]["labels"]), "has the label fairway.io/tenant"
    ),
    "a namespace of the system": Try("POST", "v1/namespaces", tenant("kube-x"), "is the system's"),
    "a privileged namespace": Try("POST", "v1/namespaces", tenant("x", "privileged"), "--max-pod-security"),
    "a namespace without a level": Try(
        "POST", "v1/namespaces", {"metadata": {"name": "x", "labels": {"fairway.io/tenant": "x"}}}, "Pod Security"
    ),
    "a namespace that webhooks pass by": Try(
        "POST", "v1/namespaces", space("x", **{**tenant("x")["metadata"]["labels"], "control-plane": "y"}), "no others"
    ),
    "a tenant's namespace made privileged": Try(
        "PATCH", TEAM, {"metadata": {"labels": {ENFORCE: "privileged"}}}, "--max-pod-security"
    ),
    "a tenant's namespace without a level": Try(
        "PATCH", TEAM, {"metadata": {"labels": {ENFORCE: None}}}, "Pod Security"
    ),
    "an older version of its level": Try(
        "PATCH", TEAM, {"metadata": {"labels": {f"{ENFORCE}-version": "v1.0"}}}, "no others"
    ),
    "a stranger's namespace taken over": Try(
        "PATCH", "v1/namespaces/payments", tenant("payments"), "not Fairway's to change"
    ),
    "kube-system relabelled": Try(
        "PATCH", "v1/namespaces/kube-system", {"metadata": {"labels": {ENFORCE: "privileged"}}}, "the system's"
    ),
    "an annotation on a namespace": Try("PATCH", TEAM, {"metadata": {"annotations": {"a": "b"}}}, "nothing but labels"),
    "the image of a foreign pod": Try(
        "PATCH", PODS.format("team") + "/foreign", EVIL, "not a pod for which Fairway holds room"
    ),
    "the image of a pod that waits": Try("PATCH", HELD_POD, EVIL, GATES_ONLY),
    "the image of a pod that runs": Try("PATCH", BOUND_POD, EVIL, GATES_ONLY),
    "a toleration for a pod": Try(
        "PATCH", BOUND_POD, [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}], GATES_ONLY
    ),
    "a node for a pod that waits": Try(
        "PATCH", HELD_POD, {"spec": {"nodeSelector": {"no": "node", "node": "his"}}}, GATES_ONLY
    ),
    "a label of others": Try("PATCH", HELD_POD, {"metadata": {"labels": {"app": "payments"}}}, "no label but its own"),
    "an annotation of others": Try(
        "PATCH", HELD_POD, {"metadata": {"annotations": {"note": None}}}, "no annotation but its own"
    ),
    "an owner for a pod": Try(
        "PATCH",
        HELD_POD,
        {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}]}},
        "neither owners nor finalizers",
    ),
    "the phase of a pod": Try(
        "PATCH", HELD_POD + "/status", {"status": {"phase": "Succeeded"}}, "says nominatedNodeName"
    ),
    "the address of a pod": Try(
        "PATCH", HELD_POD + "/status", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}}, "says nominatedNodeName"
    ),
    "a pod of a stranger's namespace": Try(
        "PATCH", PODS.format("payments") + "/held", {"metadata": {"labels": OURS}}, "cannot patch resource"
    ),
    "the Secrets of all": Try("GET", "v1/secrets", None, "cannot list resource"),
    "Secrets beside Fairway": Try("GET", f"v1/namespaces/{HOME}/secrets", None, "cannot list resource"),
    "his own token for another day": Try(
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/fairway-member/token", {"spec": {}}, "cannot create resource"
    ),
    "the token that renews": Try(
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/fairway-renewal/token", {"spec": {}}, "cannot create resource"
    ),
    "another's token": Try(
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/default/token", {"spec": {}}, "cannot create resource"
    ),
    "a Workflow that is said to have succeeded": Try("PATCH", FLOW, DONE, "said in its status"),
    "a Workflow that says less than it did": Try("PATCH", FLOW, {"status": None}, "said in its status"),
    "a Workflow made with its end": Try("POST", FLOWS.format("team"), flow("x", **DONE), "said in its status"),
    "another pod for a Job": Try(
        "PATCH", FIRST, {"spec": {"template": {"spec": {"nodeSelector": {"node": "his"}}}}}, ONLY_IN_PLACE
    ),
    "a Job that he resumes": Try("PATCH", FIRST, {"spec": {"suspend": False, "parallelism": 2}}, ONLY_IN_PLACE),
    "another step for a Workflow": Try("PATCH", FLOW, put("/spec/templates/0/container/image", "evil"), ONLY_IN_PLACE),
    "another queue for a Volcano job": Try("PATCH", VOLCANO, {"spec": {"queue": "his"}}, ONLY_IN_PLACE),
    "another image for a task": Try(
        "PATCH", VOLCANO, put("/spec/tasks/1/template/spec/containers/0/image", "evil"), ONLY_IN_PLACE
    ),
    "another task": Try("PATCH", VOLCANO, put("/spec/tasks/-", {"name": "t", "replicas": 1}), ONLY_IN_PLACE),
    "a task by another name": Try("PATCH", VOLCANO, put("/spec/tasks/1/name", "his"), ONLY_IN_PLACE),
    "a master more": Try("PATCH", TORCH, put("/spec/pytorchReplicaSpecs/Master/replicas", 3), ONLY_IN_PLACE),
    "another image for workers": Try(
        "PATCH", TORCH, put("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/image", "evil"), ONLY_IN_PLACE
    ),
    "another plan for pods": Try("PATCH", TORCH, {"spec": {"runPolicy": {"cleanPodPolicy": "None"}}}, ONLY_IN_PLACE),
    "a Job of a stranger made smaller": Try(
        "PATCH", JOBS.format("team") + "/theirs", {"spec": {"parallelism": 0}}, "not an object of Fairway"
    ),
    "a Reservation of nobody": Try("POST", ROOMS, reservation("x", {}), "names its job"),
    "a Reservation for a day": Try("POST", ROOMS, reservation("x", ttl="24h"), "ends by itself within 600 s"),
    "a Reservation for ever": Try("POST", ROOMS, reservation("x", ttl="0s"), "ends by itself"),
    "a Reservation until a day that he names": Try(
        "POST", ROOMS, reservation("x", expires="2099-01-01T00:00:00Z"), "ends by itself"
    ),
    "Reservations of others deleted": Try("DELETE", ROOMS, None, "not a Reservation of Fairway"),
    "the policies that bound him": Try(
        "DELETE",
        "admissionregistration.k8s.io/v1/validatingadmissionpolicies/fairway-member-pods",
        None,
        "cannot delete resource",
    ),
}
