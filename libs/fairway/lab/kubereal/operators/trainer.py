"""Kubeflow's trainer: TrainJobs, of each of which it makes a JobSet, so the JobSet operator has to run beside it."""

import msgspec

from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration
from fairway.lab.processes.server import free_ports

_GROUP = "trainer.kubeflow.org"
_VERSION = "v1alpha1"
_VALIDATED = ("trainjob", "trainingruntime", "clustertrainingruntime")


def trainer(site: Site) -> Setup:
    webhook, health = free_ports(2)
    config = {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
    }
    path = site.write("trainer.json", msgspec.json.encode(config).decode())
    args = (f"--kubeconfig={site.kubeconfig}", f"--config={path}", "--zap-log-level=error")
    process = OperatorProcess("trainer-controller-manager", args, site.serving(), f"http://127.0.0.1:{health}/readyz")
    hooks = [
        Hook(
            f"validator.{kind}.trainer.kubeflow.org",
            f"/validate-trainer-kubeflow-org-v1alpha1-{kind}",
            _GROUP,
            _VERSION,
            f"{kind}s",
        )
        for kind in _VALIDATED
    ]
    validation = configuration("Validating", "validator.trainer.kubeflow.org", webhook, site.pair.ca, hooks)
    return Setup((validation,), (process,))
