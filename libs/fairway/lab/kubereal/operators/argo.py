"""Argo's workflow-controller. Steps need no executor: kwok ends their pods, and no step has outputs."""

from fairway.lab.kubereal.operators.setup import OperatorProcess, Setup, Site, namespace

_NAMESPACE = "argo"
_CONFIG = """\
metricsConfig: {enabled: false}
telemetryConfig: {enabled: false}
mainContainer: {resources: {requests: {cpu: 10m}}}
"""


def argo(site: Site) -> Setup:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "workflow-controller-configmap", "namespace": _NAMESPACE},
        "data": {"config": _CONFIG},
    }
    # With the default of 10 s the end of a step is noticed that late.
    env = {"LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "100ms"}
    args = (
        f"--kubeconfig={site.kubeconfig}",
        f"--namespace={_NAMESPACE}",
        "--executor-image=none",
        "--configmap=workflow-controller-configmap",
        "--loglevel=warn",
        "--qps=200",
        "--burst=400",
    )
    return Setup((namespace(_NAMESPACE), config), (OperatorProcess("argo-workflow-controller", args, env),))
