"""SparkApplications of many shapes, each as what it says beside a plain one."""

from copy import deepcopy
from typing import Any

Json = dict[str, Any]

# Alone: what nobody says of a role.
PLAIN: Json = {
    "type": "Scala",
    "mode": "cluster",
    "image": "spark:3.5.5",
    "sparkVersion": "3.5.5",
    "mainClass": "org.apache.spark.examples.SparkPi",
    "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
    "restartPolicy": {"type": "Never"},
    "driver": {},
    "executor": {"instances": 1},
}
_PYTHON = {"type": "Python", "mainApplicationFile": "local:///opt/pi3.py"}
_R = {"type": "R", "mainApplicationFile": "local:///opt/pi3.R"}
_PROXY = {"name": "proxy", "image": "x", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}


def both(**role: Any) -> Json:
    return {"driver": role, "executor": role}


def conf(**pairs: str) -> Json:
    return {"sparkConf": {f"spark.{key.replace('__', '.')}": value for key, value in pairs.items()}}


def template(role: str, **main: Any) -> Json:
    return {"spec": {"containers": [{"name": f"spark-kubernetes-{role}", **main}]}}


SHAPES: dict[str, Json] = {
    "nothing is said of sizes": {},
    "cores": {"driver": {"cores": 1}, "executor": {"cores": 3, "instances": 2}},
    "a request of cores below the cores": both(cores=2, coreRequest="500m"),
    "a request of cores in tenths": both(coreRequest="0.1"),
    "a request of more than one core": both(coreRequest="1.5"),
    "a limit of cores above the request": both(cores=1, coreLimit="1200m"),
    "a limit of cores that is the request": both(coreRequest="750m", coreLimit="750m"),
    "memory in MiB and GiB": {"driver": {"memory": "512m"}, "executor": {"memory": "8g"}},
    "memory without a unit": both(memory="1536"),
    "memory in KiB": both(memory="1572864k"),
    "memory with both letters of its unit": {"driver": {"memory": "1500mb"}, "executor": {"memory": "2GB"}},
    "much memory, of which a tenth is no whole number": both(memory="40961m"),
    "overhead of memory": both(memory="1g", memoryOverhead="768m"),
    "overhead of memory without a unit": both(memory="2g", memoryOverhead="100"),
    "a share as overhead": {"memoryOverheadFactor": "0.25", **both(memory="4g")},
    "a share as overhead by sparkConf": {**conf(kubernetes__memoryOverheadFactor="0.33"), **both(memory="5g")},
    "a share for each role by sparkConf": {
        **conf(driver__memoryOverheadFactor="0.5", executor__memoryOverheadFactor="0.05"),
        **both(memory="10g"),
    },
    "a share that sparkConf says otherwise": {
        "memoryOverheadFactor": "0.3",
        **conf(kubernetes__memoryOverheadFactor="0.4", driver__memoryOverheadFactor="0.5"),
        **both(memory="4g"),
    },
    "Java": {"type": "Java", **both(memory="3g")},
    "Python": {**_PYTHON, **both(memory="2g")},
    "Python with memory of its own": {**_PYTHON, **conf(executor__pyspark__memory="700m"), **both(memory="1g")},
    "Python with a share": {**_PYTHON, "memoryOverheadFactor": "0.2", **both(memory="6g")},
    "R": {**_R, **both(memory="2g")},
    "memory off the heap": conf(memory__offHeap__enabled="true", memory__offHeap__size="512m"),
    "memory off the heap in bytes": conf(memory__offHeap__enabled="true", memory__offHeap__size="1073741823"),
    "memory off the heap that is not switched on": conf(memory__offHeap__size="1g"),
    "sizes by sparkConf alone": conf(
        driver__memory="700m", executor__memory="900m", driver__cores="2", executor__cores="4", executor__instances="1"
    ),
    "requests of cores by sparkConf": conf(
        kubernetes__driver__request__cores="250m", kubernetes__executor__request__cores="2500m"
    ),
    "GPUs by sparkConf": conf(executor__resource__gpu__amount="2", executor__resource__gpu__vendor="nvidia.com"),
    "GPUs": {"executor": {"cores": 1, "gpu": {"name": "nvidia.com/gpu", "quantity": 1}}},
    "dynamic allocation": {
        "dynamicAllocation": {"enabled": True, "initialExecutors": 2, "minExecutors": 1, "maxExecutors": 6},
        "executor": {"instances": None, "cores": 2, "memory": "3g"},
    },
    "dynamic allocation by sparkConf": {
        **conf(
            dynamicAllocation__enabled="true", dynamicAllocation__minExecutors="2", dynamicAllocation__maxExecutors="3"
        ),
        "executor": {"instances": None},
    },
    "a pod template": {role: {"cores": 2, "template": template(role, env=[])} for role in ("driver", "executor")},
    "a pod template with a container more": {
        "driver": {"memory": "1g", "template": {"spec": {"containers": [{"name": "spark-kubernetes-driver"}, _PROXY]}}},
    },
    "a pod template with a container before Spark's": {
        "driver": {"template": {"spec": {"containers": [_PROXY, {"name": "spark-kubernetes-driver"}]}}},
    },
    "a pod template whose own container asks for more than cpu and memory": {
        "driver": {
            "template": template(
                "driver",
                resources={"requests": {"cpu": "9", "ephemeral-storage": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}},
            )
        },
    },
    "a pod template with containers before": {
        "executor": {
            "template": {
                "spec": {
                    "initContainers": [
                        {**_PROXY, "name": "mesh", "restartPolicy": "Always"},
                        {"name": "fetch", "image": "x", "resources": {"requests": {"cpu": "6", "memory": "1Gi"}}},
                    ],
                    "containers": [{"name": "spark-kubernetes-executor"}],
                }
            }
        },
    },
}
# What the operator's webhook writes into pods.
ADDED: dict[str, Json] = {
    "a sidecar": both(memory="1g", sidecars=[_PROXY]),
    "a sidecar with limits alone": both(
        sidecars=[{"name": "log", "image": "x", "resources": {"limits": {"cpu": "200m", "memory": "128Mi"}}}]
    ),
    "an init container that asks for more": both(
        initContainers=[{"name": "fetch", "image": "x", "resources": {"requests": {"cpu": "4", "memory": "16Gi"}}}]
    ),
    "an init container that goes on": both(initContainers=[{**_PROXY, "restartPolicy": "Always"}]),
}


def application(name: str, more: Json, namespace: str, annotations: Json) -> Json:
    spec = deepcopy(PLAIN) | {key: deepcopy(value) for key, value in more.items() if key not in ("driver", "executor")}
    for role in ("driver", "executor"):
        spec[role] = {key: value for key, value in {**PLAIN[role], **more.get(role, {})}.items() if value is not None}
    metadata = {"name": name, "namespace": namespace, "annotations": dict(annotations)}
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": metadata,
        "spec": deepcopy(spec),
    }
