"""What a thief tries with companions: of what goes along with jobs he may make and change none but as Fairway does."""

from typing import Any

from tests.kubernetes.rights.thefts import SEAL, Json, Try, job


def along(name: str = "x", **more: Any) -> Json:
    """As Fairway makes a companion, and what a thief makes of it."""
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "fairway-j1-1", "uid": "u"}]
    meta = {"name": name, "labels": {"fairway.io/companion": "true"}, "annotations": SEAL, "ownerReferences": owners}
    return {"metadata": {**meta, **more.pop("metadata", {})}, **more}


CONFIG_MAPS = "v1/namespaces/{}/configmaps"
SECRETS = "v1/namespaces/{}/secrets"
ACCOUNTS = "v1/namespaces/{}/serviceaccounts"
CLAIMS = "v1/namespaces/{}/persistentvolumeclaims"
ITS_OWN = "not a companion that Fairway sent"
ASKS = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_TRAINER = "trainer.kubeflow.org/v1alpha1/namespaces/team/{}"
RUNTIMES = _TRAINER.format("trainingruntimes")
TRAIN_JOBS = _TRAINER.format("trainjobs")
WRAPPERS = "workload.codeflare.dev/v1beta2/namespaces/team/appwrappers"
_NODE = {"containers": [{"name": "node", "image": "x"}]}
_JOB: Json = {"name": "node", "template": {"spec": {"template": {"spec": _NODE}}}}


def runtime(name: str = "fairway-j1-1", **more: Any) -> Json:
    """As Fairway makes it with a TrainJob."""
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime"}
    return {**head, **along(name, spec={"template": {"spec": {"replicatedJobs": [_JOB]}}}, **more)}


def train_job(kind: str, name: str) -> Json:
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    return {**head, "metadata": job("team", "x")["metadata"], "spec": {"runtimeRef": {"kind": kind, "name": name}}}


def app_wrapper(api_version: str, kind: str) -> Json:
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
    inside = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
    return {**head, "metadata": job("team", "x")["metadata"], "spec": {"components": [{"template": inside}]}}


TOKEN = {"annotations": {**SEAL, "kubernetes.io/service-account.name": "default"}}
COMPANIONS = {
    "a Secret in kube-system": Try("POST", SECRETS.format("kube-system"), along(), "cannot create resource"),
    "a Secret in a stranger's namespace": Try("POST", SECRETS.format("payments"), along(), "cannot create resource"),
    "a stranger's Secret": Try("GET", SECRETS.format("payments") + "/theirs", None, "cannot get resource"),
    "the Secrets of a tenant": Try("GET", SECRETS.format("team"), None, "cannot list resource"),
    "a ConfigMap that is not marked": Try(
        "POST", CONFIG_MAPS.format("team"), along(metadata={"labels": {}}), "the label fairway.io/companion"
    ),
    "a ConfigMap without a seal": Try(
        "POST", CONFIG_MAPS.format("team"), along(metadata={"annotations": {}}), "the annotation fairway.io/seal"
    ),
    "a Secret that stays": Try(
        "POST", SECRETS.format("team"), along(metadata={"ownerReferences": []}), "goes with its attempt"
    ),
    "an anchor that holds something": Try(
        "POST",
        CONFIG_MAPS.format("team"),
        along("fairway-x", metadata={"labels": {"fairway.io/companion": "anchor"}}, data={"a": "b"}),
        "which holds nothing",
    ),
    "a Secret that is an anchor": Try(
        "POST",
        SECRETS.format("team"),
        along("fairway-x", metadata={"labels": {"fairway.io/companion": "anchor"}}),
        "goes with its attempt",
    ),
    "a token of an account": Try(
        "POST",
        SECRETS.format("team"),
        along(type="kubernetes.io/service-account-token", metadata=TOKEN),
        "filled with a token",
    ),
    "a token that joins nodes": Try(
        "POST", SECRETS.format("team"), along(type="bootstrap.kubernetes.io/token"), "filled with a token"
    ),
    "an account whose pods have tokens": Try("POST", ACCOUNTS.format("team"), along(), "gives its pods no token"),
    "a volume of his choice": Try(
        "POST", CLAIMS.format("team"), along(spec={**ASKS, "volumeName": "pv"}), "no volume by its name"
    ),
    "a label by which others collect it": Try(
        "POST",
        CONFIG_MAPS.format("team"),
        along(metadata={"labels": {"fairway.io/companion": "true", "grafana_dashboard": "1"}}),
        "no labels but those",
    ),
    "a tenant's own ConfigMap changed": Try(
        "PATCH", CONFIG_MAPS.format("team") + "/own", {"data": {"a": "evil"}}, "the label fairway.io/companion"
    ),
    "a tenant's own ConfigMap taken over": Try("PATCH", CONFIG_MAPS.format("team") + "/own", along("own"), ITS_OWN),
    "a tenant's own Secret deleted": Try("DELETE", SECRETS.format("team") + "/own", None, ITS_OWN),
    "a runtime that others name": Try("POST", RUNTIMES, runtime("torch"), "is called fairway-..."),
    "a runtime that stays": Try("POST", RUNTIMES, runtime(metadata={"ownerReferences": []}), "goes with its attempt"),
    "a runtime without a seal": Try(
        "POST", RUNTIMES, runtime(metadata={"annotations": {}}), "the annotation fairway.io/seal"
    ),
    "a tenant's runtime changed": Try("PATCH", RUNTIMES + "/own", {"spec": {}}, "cannot patch resource"),
    "a tenant's runtime deleted": Try("DELETE", RUNTIMES + "/own", None, "cannot delete resource"),
    "a TrainJob of the tenant's runtime": Try(
        "POST", TRAIN_JOBS, train_job("TrainingRuntime", "own"), "names a TrainingRuntime fairway-..."
    ),
    "a TrainJob of a runtime of the cluster": Try(
        "POST", TRAIN_JOBS, train_job("ClusterTrainingRuntime", "fairway-j1-1"), "names a TrainingRuntime fairway-..."
    ),
    "rights by a controller that makes what it is given": Try(
        "POST", WRAPPERS, app_wrapper("rbac.authorization.k8s.io/v1", "RoleBinding"), "whose pods it counts"
    ),
    "a tenant's own account": Try("DELETE", ACCOUNTS.format("team") + "/default", None, "cannot delete resource"),
    "a tenant's own claim": Try("DELETE", CLAIMS.format("team") + "/own", None, "cannot delete resource"),
}
