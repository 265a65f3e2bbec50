"""JobSet, with the webhooks that fill in its defaults."""

import msgspec

from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration
from fairway.lab.processes.server import free_ports

_GROUP = "jobset.x-k8s.io"
_VERSION = "v1alpha2"


def jobset(site: Site) -> Setup:
    webhook, health = free_ports(2)
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 200, "burst": 400},
        "webhook": {"host": "127.0.0.1", "port": webhook},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
    }
    path = site.write("jobset.json", msgspec.json.encode(config).decode())
    args = (f"--kubeconfig={site.kubeconfig}", f"--config={path}", "--zap-log-level=error")
    process = OperatorProcess("jobset-manager", args, site.serving(), f"http://127.0.0.1:{health}/readyz")
    kinds = (("Mutating", "mutate", "mjobset.kb.io"), ("Validating", "validate", "vjobset.kb.io"))
    objects = [
        configuration(
            kind,
            f"jobset-{kind.lower()}-webhook-configuration",
            webhook,
            site.pair.ca,
            [Hook(name, f"/{verb}-jobset-x-k8s-io-v1alpha2-jobset", _GROUP, _VERSION, "jobsets")],
        )
        for kind, verb, name in kinds
    ]
    return Setup(tuple(objects), (process,))
