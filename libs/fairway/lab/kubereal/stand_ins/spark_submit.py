"""In place of $SPARK_HOME/bin/spark-submit in cluster mode: makes the driver pod and, for the driver, its executors.

A script of its own for `python -I -S`, with nothing but the standard library, so that a submission takes a tenth of a
second. Which API: $KUBECONFIG (JSON). Exit code 1 with the API's words when it is refused; the operator looks for
`code=409` in them when the driver is there already.
"""

import base64
import http.client
import json
import os
import ssl
import sys
from typing import Any
from urllib.parse import urlsplit

_MIB = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
# Spark on Kubernetes: overhead is a share of the memory, at least this many MiB.
_LEAST_OVERHEAD = 384
_SUBMIT_FAILS = "fairway.test/submit-fails"

Json = dict[str, Any]


class SubmitRefused(Exception):
    pass


class KubernetesApi:
    def __init__(self, path: str) -> None:
        with open(path) as file:
            config = json.load(file)
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        server = urlsplit(cluster["server"])
        self._connection = http.client.HTTPSConnection(str(server.hostname), server.port, context=trust, timeout=30)
        self._headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        found: Json = json.loads(answer.read())
        if answer.status >= 400:
            raise SubmitRefused(f"{method} {path}: {found.get('message', '')} code={answer.status}")
        return found


class SparkSubmission:
    """The arguments as the operator gives them: `--name` and `--conf KEY=VALUE`; the rest is for the driver."""

    def __init__(self, arguments: list[str]) -> None:
        self.conf: dict[str, str] = {}
        self.name = "spark"
        at = 0
        while at < len(arguments) and arguments[at].startswith("--"):
            option = arguments[at]
            value = arguments[at + 1]
            if option == "--conf":
                key, _, text = value.partition("=")
                self.conf[key] = text
            elif option == "--name":
                self.name = value
            at += 2
        self.id = "spark-" + os.urandom(16).hex()
        self.namespace = self.of("spark.kubernetes.namespace") or "default"

    def of(self, key: str) -> str:
        return self.conf.get(key, "")

    def below(self, prefix: str) -> dict[str, str]:
        return {key[len(prefix) :]: value for key, value in self.conf.items() if key.startswith(prefix)}

    def pod(self, role: str, name: str, labels: dict[str, str], owner: Json) -> Json:
        own = {"spark-role": role, "spark-app-selector": self.id, "spark-app-name": self.name}
        image = self.of(f"spark.kubernetes.{role}.container.image") or self.of("spark.kubernetes.container.image")
        container = {"name": f"spark-kubernetes-{role}", "image": image or "spark", "resources": self._resources(role)}
        selector = {
            **self.below("spark.kubernetes.node.selector."),
            **self.below(f"spark.kubernetes.{role}.node.selector."),
        }
        spec: Json = {"restartPolicy": "Never", "nodeSelector": selector, "containers": [container]}
        scheduler = self.of(f"spark.kubernetes.{role}.scheduler.name") or self.of("spark.kubernetes.scheduler.name")
        if scheduler:
            spec["schedulerName"] = scheduler
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**self.below(f"spark.kubernetes.{role}.label."), **own, **labels},
            "annotations": self.below(f"spark.kubernetes.{role}.annotation."),
            "ownerReferences": [owner],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _resources(self, role: str) -> Json:
        memory = _mib(self.of(f"spark.{role}.memory") or "1g")
        given = self.of(f"spark.{role}.memoryOverhead")
        factor = float(self.of("spark.kubernetes.memoryOverheadFactor") or 0.1)
        memory += _mib(given) if given else max(_LEAST_OVERHEAD, int(memory * factor))
        cores = self.of(f"spark.kubernetes.{role}.request.cores") or self.of(f"spark.{role}.cores") or "1"
        requests = {"cpu": cores, "memory": f"{memory}Mi"}
        limits = {"memory": f"{memory}Mi"}
        most = self.of(f"spark.kubernetes.{role}.limit.cores")
        if most:
            limits["cpu"] = most
        gpus = self.of(f"spark.{role}.resource.gpu.amount")
        if gpus:
            vendor = self.of(f"spark.{role}.resource.gpu.vendor") or "nvidia.com"
            limits[f"{vendor}/gpu"] = gpus
        return {"requests": requests, "limits": limits}


def _mib(text: str) -> int:
    text = text.lower().rstrip("b").rstrip("i")
    return int(float(text[:-1]) * _MIB[text[-1]]) if text[-1] in _MIB else int(text)


def _owned_by(api_version: str, kind: str, manifest: Json) -> Json:
    named = manifest["metadata"]
    return {"apiVersion": api_version, "kind": kind, "name": named["name"], "uid": named["uid"], "controller": True}


def submit(api: KubernetesApi, it: SparkSubmission) -> None:
    app = it.of("spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name") or it.name
    group = f"/apis/sparkoperator.k8s.io/v1beta2/namespaces/{it.namespace}/sparkapplications"
    # Spark leaves the driver without an owner, and the operator's pod webhook, which is not run, would change that.
    owner = _owned_by("sparkoperator.k8s.io/v1beta2", "SparkApplication", api.call("GET", f"{group}/{app}"))
    name = it.of("spark.kubernetes.driver.pod.name") or f"{it.name}-driver"
    pods = f"/api/v1/namespaces/{it.namespace}/pods"
    driver = it.pod("driver", name, {}, owner)
    if _SUBMIT_FAILS in driver["metadata"]["annotations"]:
        raise SubmitRefused("the driver's annotation says that this submission fails")
    owner = _owned_by("v1", "Pod", api.call("POST", pods, driver))
    for number in range(1, int(it.of("spark.executor.instances") or 0) + 1):
        executor = it.pod("executor", f"{it.name}-{it.id[-8:]}-exec-{number}", {"spark-exec-id": str(number)}, owner)
        api.call("POST", pods, executor)


def main() -> int:
    try:
        submit(KubernetesApi(os.environ["KUBECONFIG"]), SparkSubmission(sys.argv[1:]))
    except (SubmitRefused, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
