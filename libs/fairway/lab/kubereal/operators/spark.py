"""Spark's operator. Its spark-submit is played by a stand-in that makes driver and executors as the real one does."""

import base64
import sys
from pathlib import Path

from fairway.lab.kubereal.admin import Json
from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration, namespace
from fairway.lab.processes.server import free_ports

_STAND_IN = Path(__file__).parents[1] / "stand_ins" / "spark_submit.py"
_NAMESPACE = "spark-operator"
# As the operator's chart calls both: API servers call webhooks in the order of these names.
_WEBHOOK = "spark-operator-webhook"
_SECRET = f"{_WEBHOOK}-certs"
_PODS = Hook(
    "mutate--v1-pod.sparkoperator.k8s.io",
    "/mutate--v1-pod",
    "",
    "v1",
    "pods",
    ("CREATE",),
    "sparkoperator.k8s.io/launched-by-spark-operator",
)


def spark(site: Site) -> Setup:
    return Setup(processes=(_controller(site),))


def spark_webhook(site: Site) -> Setup:
    """With the operator's webhook for pods: without it, it hands on nothing of sidecars, init containers, GPUs and
    classes of priority."""
    port, health = free_ports(2)
    folder = site.plane.dir / _WEBHOOK
    args = (
        "webhook",
        "start",
        f"--kubeconfig={site.kubeconfig}",
        "--namespaces=",
        # Then it takes the certificate that it finds, and leaves the configurations alone.
        "--enable-cert-manager=true",
        f"--webhook-secret-name={_SECRET}",
        f"--webhook-secret-namespace={_NAMESPACE}",
        f"--webhook-cert-dir={folder}",
        f"--webhook-port={port}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        "--zap-log-level=error",
    )
    serving = OperatorProcess("spark-operator", args, {}, f"http://127.0.0.1:{health}/readyz", _WEBHOOK)
    hooks = configuration("Mutating", _WEBHOOK, port, site.pair.ca, [_PODS])
    return Setup((namespace(_NAMESPACE), _certificate(site), hooks), (_controller(site, "OWNED=1"), serving))


def _certificate(site: Site) -> Json:
    pair = site.pair
    data = {"ca.crt": pair.ca, "tls.crt": pair.certificate, "tls.key": pair.key}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": _SECRET, "namespace": _NAMESPACE},
        "data": {name: base64.b64encode(value).decode() for name, value in data.items()},
    }


def _controller(site: Site, told: str = "") -> OperatorProcess:
    """`told` is what its spark-submit is told, as a variable of its environment."""
    (health,) = free_ports(1)
    submit = site.write(
        "spark/bin/spark-submit",
        f'#!/bin/sh\n{told} exec "{sys.executable}" -I -S "{_STAND_IN}" "$@"\n',
    )
    submit.chmod(0o700)
    env = {
        # From these two the operator makes the address that it tells spark-submit.
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(site.plane.port),
        "SPARK_HOME": str(site.plane.dir / "spark"),
        "KUBECONFIG": site.kubeconfig,
    }
    args = (
        "controller",
        "start",
        f"--kubeconfig={site.kubeconfig}",
        "--namespaces=",
        "--enable-ui-service=false",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        "--leader-election=false",
        "--zap-log-level=error",
        "--controller-threads=2",
    )
    return OperatorProcess("spark-operator", args, env, f"http://127.0.0.1:{health}/readyz")
