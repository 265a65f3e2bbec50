"""Spark's operator. Its spark-submit is played by a stand-in that makes driver and executors as the real one does."""

import sys
from pathlib import Path

from fairway.lab.kubereal.operators.setup import OperatorProcess, Setup, Site
from fairway.lab.processes.server import free_ports

_STAND_IN = Path(__file__).parents[1] / "stand_ins" / "spark_submit.py"


def spark(site: Site) -> Setup:
    (health,) = free_ports(1)
    submit = site.write(
        "spark/bin/spark-submit",
        f'#!/bin/sh\nexec "{sys.executable}" -I -S "{_STAND_IN}" "$@"\n',
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
    return Setup(processes=(OperatorProcess("spark-operator", args, env, f"http://127.0.0.1:{health}/readyz"),))
