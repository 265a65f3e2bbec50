"""Koordinator: koord-manager, koord-scheduler for every pod of the cluster, and the figures of its koordlets."""

from functools import partial

import msgspec

from fairway.lab.kubereal.admin import Json
from fairway.lab.kubereal.operators.pod_webhook import WITHOUT_WEBHOOK, PodWebhook, pod_webhook
from fairway.lab.kubereal.operators.setup import OperatorProcess, Setup, Site, namespace
from fairway.lab.kubereal.stand_ins.node_metrics import METRICS, feed

_NAMESPACE = "koordinator-system"
_ARGS_VERSION = "kubescheduler.config.k8s.io/v1"
# What batch-cpu and batch-memory are made of: 70 % of a node less what its system and its other pods use.
_COLOCATION = {
    "enable": True,
    "metricReportIntervalSeconds": 20,
    "metricAggregateDurationSeconds": 60,
    "cpuReclaimThresholdPercent": 70,
    "memoryReclaimThresholdPercent": 70,
    "memoryCalculatePolicy": "usage",
    "updateTimeThresholdSeconds": 30,
    "degradeTimeMinutes": 5,
    "resourceDiffThreshold": 0.01,
}
_SCHEDULER = "koord-scheduler"
# For the policy below, which is not served by itself in 1.34.
API_FLAGS = (
    "--feature-gates=MutatingAdmissionPolicy=true",
    "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
)


def koordinator(site: Site) -> Setup:
    return _setup(site, WITHOUT_WEBHOOK)


def koordinator_webhook(site: Site) -> Setup:
    """Every pod is shown to koord-manager's own webhook before it is stored."""
    return _setup(site, pod_webhook(site))


def _setup(site: Site, webhook: PodWebhook) -> Setup:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "slo-controller-config", "namespace": _NAMESPACE},
        "data": {"colocation-config": msgspec.json.encode(_COLOCATION).decode()},
    }
    return Setup(
        objects=(namespace(_NAMESPACE), config, *_every_pod(), *webhook.objects),
        processes=(_manager(site, webhook), _scheduler(site)),
        tasks=(partial(feed, site.plane),),
        present=(f"/apis/coordination.k8s.io/v1/namespaces/{_NAMESPACE}/leases/koord-scheduler", METRICS),
    )


def _manager(site: Site, webhook: PodWebhook) -> OperatorProcess:
    args = (
        "--kubeconfig",
        site.kubeconfig,
        "--enable-leader-election=false",
        "--metrics-addr=0",
        "--enable-pprof=false",
        f"--config-namespace={_NAMESPACE}",
        "--sync-period=0",
        "--rest-config-qps=200",
        "--logtostderr=true",
        "--v=1",
        *webhook.flags,
    )
    env = {"POD_NAMESPACE": _NAMESPACE, "POD_NAME": "koord-manager-0", **webhook.env}
    return OperatorProcess("koord-manager", args, env, webhook.probe)


def _scheduler(site: Site) -> OperatorProcess:
    path = site.write("koord-scheduler.json", msgspec.json.encode(scheduler_config(site.kubeconfig)).decode())
    config = site.kubeconfig
    args = (
        f"--config={path}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--authentication-skip-lookup=true",
        "--secure-port=0",
        "--port=0",
        "--v=1",
    )
    return OperatorProcess("koord-scheduler", args)


def scheduler_config(kubeconfig: str) -> Json:
    """As Koordinator installs it, without devices and NUMA, which want objects that nobody writes here."""
    return {
        "apiVersion": _ARGS_VERSION,
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {
            "leaderElect": True,
            "resourceLock": "leases",
            "resourceName": _SCHEDULER,
            "resourceNamespace": _NAMESPACE,
        },
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 500, "burst": 1000},
        # A gang that did not fit is looked at again soon after room came, as a test would have it.
        "podMaxBackoffSeconds": 2,
        "profiles": [{"schedulerName": _SCHEDULER, "pluginConfig": _plugin_config(), "plugins": _plugins()}],
    }


def _every_pod() -> tuple[Json, Json]:
    """What Koordinator's ClusterColocationProfile does: one scheduler, which alone respects Reservations, gets all
    pods. A second profile is no way: koord-scheduler 1.6 does not start with one that has the same plugins."""
    policy = {
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ]
        },
        "matchConditions": [{"name": "unsaid", "expression": "object.spec.schedulerName == 'default-scheduler'"}],
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": f"[JSONPatch{{op: 'replace', path: '/spec/schedulerName', value: '{_SCHEDULER}'}}]"
                },
            }
        ],
    }
    version = "admissionregistration.k8s.io/v1beta1"
    metadata = {"name": _SCHEDULER}
    return (
        {"apiVersion": version, "kind": "MutatingAdmissionPolicy", "metadata": metadata, "spec": policy},
        {
            "apiVersion": version,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": _SCHEDULER},
        },
    )


def _plugin_config() -> list[Json]:
    load_aware = {
        "apiVersion": _ARGS_VERSION,
        "kind": "LoadAwareSchedulingArgs",
        "filterExpiredNodeMetrics": False,
        "nodeMetricExpirationSeconds": 300,
        "resourceWeights": {"cpu": 1, "memory": 1},
        "usageThresholds": {"cpu": 80, "memory": 95},
        "estimatedScalingFactors": {"cpu": 85, "memory": 70},
    }
    quota = {"apiVersion": _ARGS_VERSION, "kind": "ElasticQuotaArgs", "quotaGroupNamespace": _NAMESPACE}
    return [{"name": "LoadAwareScheduling", "args": load_aware}, {"name": "ElasticQuota", "args": quota}]


def _plugins() -> Json:
    instead = [{"name": "*"}]
    return {
        "preEnqueue": _enabled("Coscheduling"),
        "queueSort": {"disabled": instead, **_enabled("Coscheduling")},
        "preFilter": _enabled("Reservation", "Coscheduling", "ElasticQuota"),
        # Not by load: the figures of a laptop's nodes are made up, and would keep pods off nodes that are free.
        "filter": _enabled("Reservation"),
        "postFilter": {
            "disabled": instead,
            **_enabled("Reservation", "Coscheduling", "ElasticQuota", "DefaultPreemption"),
        },
        "preScore": _enabled("Reservation"),
        "score": {"enabled": [{"name": "LoadAwareScheduling", "weight": 1}, {"name": "Reservation", "weight": 5000}]},
        "reserve": _enabled("Reservation", "LoadAwareScheduling", "Coscheduling", "ElasticQuota"),
        "permit": _enabled("Coscheduling"),
        "preBind": _enabled("Reservation", "DefaultPreBind"),
        "bind": {"disabled": instead, **_enabled("Reservation", "DefaultBinder")},
        "postBind": _enabled("Coscheduling"),
    }


def _enabled(*names: str) -> Json:
    return {"enabled": [{"name": name} for name in names]}
