"""What a thief tries with the token of Fairway's account in a member, and why he is refused."""

from typing import Any

Json = dict[str, Any]
HOME = "fairway-system"
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}
SEAL = {"fairway.io/seal": "s"}
ENFORCE = "pod-security.kubernetes.io/enforce"
RBAC = "rbac.authorization.k8s.io"


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
JOBS, PODS = "batch/v1/namespaces/{}/jobs", "v1/namespaces/{}/pods"


def role(name: str, **more: Any) -> Json:
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "fairway-tenant", **more.pop("ref", {})}
    subject = {"kind": "ServiceAccount", "name": "fairway-member", "namespace": HOME, **more.pop("subject", {})}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": [subject]}


BINDINGS = RBAC + "/v1/namespaces/{}/rolebindings"
FLOWS, ROOMS = "argoproj.io/v1alpha1/namespaces/{}/workflows", "scheduling.koordinator.sh/v1alpha1/reservations"
DONE = {"status": {"phase": "Succeeded"}}


def flow(name: str, **more: Any) -> Json:
    made = job("team", name)
    steps = [{"name": "s", "container": {"name": "main", "image": "x", "command": ["x"]}}]
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}
    return {**head, "metadata": made["metadata"], "spec": {"entrypoint": "s", "templates": steps}, **more}


def reservation(name: str, labels: Json | None = None, **spec: Any) -> Json:
    pod = {"containers": [{"name": "c", "image": "x"}]}
    owners = [{"labelSelector": {"matchLabels": OURS}}]
    named = {"name": name, "labels": {**OURS, "fairway.io/hold": "reservations"} if labels is None else labels}
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    return {**head, "metadata": named, "spec": {"template": {"spec": pod}, "owners": owners, "ttl": "600s", **spec}}


TRIES = {
    "a Job in kube-system": ("POST", JOBS.format("kube-system"), job("kube-system"), "cannot create resource"),
    "a Job beside Fairway": ("POST", JOBS.format(HOME), job(HOME), "cannot create resource"),
    "a Job in a stranger's namespace": ("POST", JOBS.format("payments"), job("payments"), "cannot create resource"),
    "a Job without a seal": ("POST", JOBS.format("team"), job("team", "x", {}), "fairway.io/seal"),
    "a Job with an empty seal": ("POST", JOBS.format("team"), job("team", "x", {"fairway.io/seal": ""}), "seal"),
    "a Job of no job": ("POST", JOBS.format("team"), job("team", "x", SEAL, {}), "the label fairway.io/job"),
    "a stranger's Job deleted": ("DELETE", JOBS.format("payments") + "/theirs", None, "cannot delete resource"),
    "a stranger's Job beside a tenant's": ("DELETE", JOBS.format("team") + "/theirs", None, "not an object of Fairway"),
    "a pod of his own": ("POST", PODS.format("team"), pod("x"), "cannot create resource"),
    "rights in kube-system": ("POST", BINDINGS.format("kube-system"), role("fairway-tenant"), "is not Fairway's"),
    "rights in a stranger's namespace": ("POST", BINDINGS.format("payments"), role("fairway-tenant"), "no label"),
    "cluster-admin in a tenant's namespace": (
        "POST", BINDINGS.format("team"), role("x", ref={"name": "cluster-admin"}), "not currently held",
    ),
    "all its reads for another": (
        "POST", BINDINGS.format("team"), role("x", subject={"name": "default"}), "nobody",
    ),
    "his own account for the whole cluster": (
        "POST", f"{RBAC}/v1/clusterrolebindings", role("x", ref={"name": "cluster-admin"}), "cannot create resource",
    ),
    "a role that says more": (
        "PATCH", f"{RBAC}/v1/clusterroles/fairway-tenant", {"rules": []}, "cannot patch resource",
    ),
    "a namespace of nobody": ("POST", "v1/namespaces", space("x"), "has the label fairway.io/tenant"),
    "a namespace of another tenant": (
        "POST", "v1/namespaces", space("x", **tenant("team")["metadata"]["labels"]), "has the label fairway.io/tenant",
    ),
    "a namespace of the system": ("POST", "v1/namespaces", tenant("kube-x"), "is the system's"),
    "a privileged namespace": ("POST", "v1/namespaces", tenant("x", "privileged"), "--max-pod-security"),
    "a namespace without a level": (
        "POST", "v1/namespaces", {"metadata": {"name": "x", "labels": {"fairway.io/tenant": "x"}}}, "Pod Security",
    ),
    "a namespace that webhooks pass by": (
        "POST", "v1/namespaces", space("x", **{**tenant("x")["metadata"]["labels"], "control-plane": "y"}), "no others",
    ),
    "a tenant's namespace made privileged": (
        "PATCH", "v1/namespaces/team", {"metadata": {"labels": {ENFORCE: "privileged"}}}, "--max-pod-security",
    ),
    "a tenant's namespace without a level": (
        "PATCH", "v1/namespaces/team", {"metadata": {"labels": {ENFORCE: None}}}, "Pod Security",
    ),
    "an older version of its level": (
        "PATCH", "v1/namespaces/team", {"metadata": {"labels": {f"{ENFORCE}-version": "v1.0"}}}, "no others",
    ),
    "a stranger's namespace taken over": (
        "PATCH", "v1/namespaces/payments", tenant("payments"),
        "not Fairway's to change",
    ),
    "kube-system relabelled": (
        "PATCH", "v1/namespaces/kube-system", {"metadata": {"labels": {ENFORCE: "privileged"}}}, "the system's",
    ),
    "an annotation on a namespace": (
        "PATCH", "v1/namespaces/team", {"metadata": {"annotations": {"a": "b"}}}, "nothing but labels",
    ),
    "the image of a foreign pod": (
        "PATCH", PODS.format("team") + "/foreign", EVIL,
        "not a pod for which Fairway holds room",
    ),
    "the image of a pod that waits": (
        "PATCH", PODS.format("team") + "/held", EVIL,
        "takes scheduling gates away",
    ),
    "the image of a pod that runs": (
        "PATCH", PODS.format("team") + "/bound", EVIL,
        "takes scheduling gates away",
    ),
    "a toleration for a pod": (
        "PATCH", PODS.format("team") + "/bound",
        [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}],
        "takes scheduling gates away",
    ),
    "a node for a pod that waits": (
        "PATCH", PODS.format("team") + "/held", {"spec": {"nodeSelector": {"no": "node", "node": "his"}}},
        "takes scheduling gates away",
    ),
    "a label of others": (
        "PATCH", PODS.format("team") + "/held", {"metadata": {"labels": {"app": "payments"}}}, "no label but its own",
    ),
    "an annotation of others": (
        "PATCH", PODS.format("team") + "/held", {"metadata": {"annotations": {"note": None}}},
        "no annotation but its own",
    ),
    "an owner for a pod": (
        "PATCH", PODS.format("team") + "/held",
        {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}]}},
        "neither owners nor finalizers",
    ),
    "the phase of a pod": (
        "PATCH", PODS.format("team") + "/held/status", {"status": {"phase": "Succeeded"}}, "says nominatedNodeName",
    ),
    "the address of a pod": (
        "PATCH", PODS.format("team") + "/held/status", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}},
        "says nominatedNodeName",
    ),
    "a pod of a stranger's namespace": (
        "PATCH", PODS.format("payments") + "/held", {"metadata": {"labels": OURS}}, "cannot patch resource",
    ),
    "a pod deleted": ("DELETE", PODS.format("team") + "/held", None, "cannot delete resource"),
    "the Secrets of all": ("GET", "v1/secrets", None, "cannot list resource"),
    "Secrets beside Fairway": ("GET", f"v1/namespaces/{HOME}/secrets", None, "cannot list resource"),
    "his own token for another day": (
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/fairway-member/token", {"spec": {}}, "cannot create resource",
    ),
    "the token that renews": (
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/fairway-renewal/token", {"spec": {}}, "cannot create resource",
    ),
    "another's token": (
        "POST", f"v1/namespaces/{HOME}/serviceaccounts/default/token", {"spec": {}}, "cannot create resource",
    ),
    "a class that drives others out": (
        "POST", "scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x"}, "value": 1000}, "drives out nobody",
    ),
    "a class for everybody": (
        "POST", "scheduling.k8s.io/v1/priorityclasses",
        {"metadata": {"name": "x"}, "value": 1, "preemptionPolicy": "Never", "globalDefault": True},
        "drives out nobody",
    ),
    "a Workflow that is said to have succeeded": ("PATCH", FLOWS.format("team") + "/flow", DONE, "said in its status"),
    "a Workflow that says less than it did": (
        "PATCH", FLOWS.format("team") + "/flow", {"status": None}, "said in its status",
    ),
    "a Workflow made with its end": ("POST", FLOWS.format("team"), flow("x", **DONE), "said in its status"),
    "a Reservation of nobody": ("POST", ROOMS, reservation("x", {}), "names its job"),
    "a Reservation for a day": ("POST", ROOMS, reservation("x", ttl="24h"), "ends by itself within 600 s"),
    "a Reservation for ever": ("POST", ROOMS, reservation("x", ttl="0s"), "ends by itself"),
    "a Reservation until a day that he names": (
        "POST", ROOMS, reservation("x", expires="2099-01-01T00:00:00Z"), "ends by itself",
    ),
    "Reservations of others deleted": ("DELETE", ROOMS, None, "not a Reservation of Fairway"),
    "the policies that bound him": (
        "DELETE", "admissionregistration.k8s.io/v1/validatingadmissionpolicies/fairway-member-pods", None,
        "cannot delete resource",
    ),
}  # fmt: skip
