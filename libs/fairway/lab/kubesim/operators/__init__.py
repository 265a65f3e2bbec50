"""The job operators of a simulated cluster: one short file per kind.

Owns: which pods a job has, and its status, as the real operator of the kind would have it. Each is a
function of the job and its children; `driver.py` carries out what it says. Never: places or runs a pod.
"""

from collections.abc import Mapping

from fairway.lab.kubesim.operators import (
    appwrapper,
    argo,
    batch,
    jobset,
    kubeflow,
    leaderworkerset,
    ray,
    spark,
    trainer,
    volcano,
)
from fairway.lab.kubesim.operators.base import Operator

# Storage name of the kind → its operator.
OPERATORS: Mapping[str, Operator] = {
    "jobs.batch": batch.reconcile,
    "pytorchjobs.kubeflow.org": kubeflow.PYTORCH,
    "tfjobs.kubeflow.org": kubeflow.TENSORFLOW,
    "xgboostjobs.kubeflow.org": kubeflow.XGBOOST,
    "paddlejobs.kubeflow.org": kubeflow.PADDLE,
    "mxjobs.kubeflow.org": kubeflow.MXNET,
    "jaxjobs.kubeflow.org": kubeflow.JAX,
    "mpijobs.kubeflow.org": kubeflow.MPI,
    "jobs.batch.volcano.sh": volcano.reconcile,
    "sparkapplications.sparkoperator.k8s.io": spark.reconcile,
    "workflows.argoproj.io": argo.reconcile,
    "jobsets.jobset.x-k8s.io": jobset.reconcile,
    "trainjobs.trainer.kubeflow.org": trainer.reconcile,
    "appwrappers.workload.codeflare.dev": appwrapper.reconcile,
    "leaderworkersets.leaderworkerset.x-k8s.io": leaderworkerset.reconcile,
    "rayclusters.ray.io": ray.reconcile_cluster,
    "rayjobs.ray.io": ray.reconcile_job,
}
