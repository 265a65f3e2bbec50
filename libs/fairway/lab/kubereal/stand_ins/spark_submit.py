"""In place of $SPARK_HOME/bin/spark-submit in cluster mode: makes the driver pod and, for the driver, its executors.

A script of its own for `python -I -S`, with nothing but the standard library, so that a submission takes a tenth of a
second. Which API: $KUBECONFIG (JSON). Exit code 1 with the API's words when it is refused; the operator looks for
`code=409` in them when the driver is there already.

Sizes are those of Spark 3.5 (BasicDriverFeatureStep, BasicExecutorFeatureStep, ResourceProfile), written for here: no
code of Fairway's readers is used. A pod template is read from the application, not from the operator's file, which is
YAML.
"""

import base64
import http.client
import json
import os
import re
import ssl
import sys
from typing import Any
from urllib.parse import urlsplit

_SIZE = re.compile(r"([0-9]+)([kmgtp]?b?)")
_MIB = 2**20
_BYTES = {"b": 1, "k": 2**10, "m": _MIB, "g": 2**30, "t": 2**40, "p": 2**50}
# Spark on Kubernetes: overhead is a share of the memory, at least this many MiB. More for what is no Java.
_LEAST_OVERHEAD = 384
_JVM_SHARE = "0.1"
_OTHER_SHARE = "0.4"
_NOT_JVM = (".py", ".R")
# Without a word on the number of executors.
_EXECUTORS = "2"
_SUBMIT_FAILS = "fairway.test/submit-fails"
# Set where the operator's pod webhook runs, which gives the driver its owner.
_OWNED = "OWNED"

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
        self.file = arguments[at] if at < len(arguments) else ""
        self.templates: dict[str, Json] = {}
        self.id = "spark-" + os.urandom(16).hex()
        self.namespace = self.of("spark.kubernetes.namespace") or "default"

    def of(self, key: str) -> str:
        return self.conf.get(key, "")

    def below(self, prefix: str) -> dict[str, str]:
        return {key[len(prefix) :]: value for key, value in self.conf.items() if key.startswith(prefix)}

    def pod(self, role: str, name: str, labels: dict[str, str], owners: list[Json]) -> Json:
        template = self.templates.get(role) or {}
        above = template.get("metadata") or {}
        spec = dict(template.get("spec") or {})
        own = {"spark-role": role, "spark-app-selector": self.id, "spark-app-name": self.name}
        spec |= {"restartPolicy": "Never", "containers": self._containers(role, spec.get("containers") or [])}
        spec["nodeSelector"] = {
            **(spec.get("nodeSelector") or {}),
            **self.below("spark.kubernetes.node.selector."),
            **self.below(f"spark.kubernetes.{role}.node.selector."),
        }
        scheduler = self.of(f"spark.kubernetes.{role}.scheduler.name") or self.of("spark.kubernetes.scheduler.name")
        if scheduler:
            spec["schedulerName"] = scheduler
        given = {**(above.get("labels") or {}), **self.below(f"spark.kubernetes.{role}.label.")}
        noted = {**(above.get("annotations") or {}), **self.below(f"spark.kubernetes.{role}.annotation.")}
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**given, **own, **labels},
            "annotations": noted,
            "ownerReferences": owners,
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def executors(self) -> int:
        """How many there are at the start."""
        dynamic = "spark.dynamicAllocation."
        if self.of(f"{dynamic}enabled").lower() != "true":
            return int(self.of("spark.executor.instances") or _EXECUTORS)
        names = ("spark.executor.instances", f"{dynamic}initialExecutors", f"{dynamic}minExecutors")
        return max(int(self.of(name) or 0) for name in names)

    def _containers(self, role: str, given: list[Json]) -> list[Json]:
        """Spark's own is the template's container of that name, else its first, with what Spark says of it."""
        name = f"spark-kubernetes-{role}"
        at = next((number for number, one in enumerate(given) if one.get("name") == name), 0)
        main = dict(given[at]) if given else {}
        image = self.of(f"spark.kubernetes.{role}.container.image") or self.of("spark.kubernetes.container.image")
        kept = main.get("resources") or {}
        sizes = {key: {**(kept.get(key) or {}), **amounts} for key, amounts in self._resources(role).items()}
        main = {"name": name, **main, "image": image or "spark", "resources": {**kept, **sizes}}
        return [main, *given[:at], *given[at + 1 :]]

    def _resources(self, role: str) -> Json:
        memory = self._memory(role)
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

    def _memory(self, role: str) -> int:
        """MiB of a pod: the heap, what the JVM needs beside it, and executors' memory outside of it."""
        heap = _mib(self.of(f"spark.{role}.memory") or "1g")
        given = self.of(f"spark.{role}.memoryOverhead")
        usual = _OTHER_SHARE if self.file.endswith(_NOT_JVM) else _JVM_SHARE
        share = self.of(f"spark.{role}.memoryOverheadFactor") or self.of("spark.kubernetes.memoryOverheadFactor")
        total = heap + (_mib(given) if given else max(int(float(share or usual) * heap), _LEAST_OVERHEAD))
        if role == "executor" and self.file.endswith(".py"):
            total += _mib(self.of("spark.executor.pyspark.memory") or "0")
        if role == "executor" and self.of("spark.memory.offHeap.enabled").lower() == "true":
            total += _mib(self.of("spark.memory.offHeap.size") or "0", bare=1)
        return total


def _mib(text: str, bare: int = _MIB) -> int:
    """A size as Java reads it, in whole MiB; a number alone counts `bare` bytes."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise SubmitRefused(f"{text!r} is no size; write one such as 512m")
    number, unit = found.groups()
    return int(number) * (_BYTES[unit[0]] if unit else bare) // _MIB


def _owned_by(api_version: str, kind: str, manifest: Json) -> Json:
    named = manifest["metadata"]
    return {"apiVersion": api_version, "kind": kind, "name": named["name"], "uid": named["uid"], "controller": True}


def submit(api: KubernetesApi, it: SparkSubmission) -> None:
    app = it.of("spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name") or it.name
    group = f"/apis/sparkoperator.k8s.io/v1beta2/namespaces/{it.namespace}/sparkapplications"
    application = api.call("GET", f"{group}/{app}")
    it.templates = {role: application["spec"][role].get("template") or {} for role in ("driver", "executor")}
    # Spark leaves the driver without an owner, and the operator's pod webhook, where it runs, gives it this one.
    owners = (
        [] if _OWNED in os.environ else [_owned_by("sparkoperator.k8s.io/v1beta2", "SparkApplication", application)]
    )
    name = it.of("spark.kubernetes.driver.pod.name") or f"{it.name}-driver"
    pods = f"/api/v1/namespaces/{it.namespace}/pods"
    driver = it.pod("driver", name, {}, owners)
    if _SUBMIT_FAILS in driver["metadata"]["annotations"]:
        raise SubmitRefused("the driver's annotation says that this submission fails")
    owners = [_owned_by("v1", "Pod", api.call("POST", pods, driver))]
    for number in range(1, it.executors() + 1):
        executor = it.pod("executor", f"{it.name}-{it.id[-8:]}-exec-{number}", {"spark-exec-id": str(number)}, owners)
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
