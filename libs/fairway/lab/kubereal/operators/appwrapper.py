"""AppWrapper, without its webhooks: their port cannot be chosen, so only one on a machine could run with them."""

import msgspec

from fairway.lab.kubereal.operators.setup import OperatorProcess, Setup, Site, namespace
from fairway.lab.processes.server import free_ports

_NAMESPACE = "appwrapper-system"


def appwrapper(site: Site) -> Setup:
    (health,) = free_ports(1)
    probe = f"127.0.0.1:{health}"
    settings = {
        "appwrapper": {"autopilot": {"injectAntiAffinities": False, "monitorNodes": False}},
        "controllerManager": {"metrics": {"bindAddress": "0"}, "health": {"bindAddress": probe}},
        "webhooksEnabled": False,
    }
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "appwrapper-operator-config", "namespace": _NAMESPACE},
        "data": {"config.yaml": msgspec.json.encode(settings).decode()},
    }
    process = OperatorProcess(
        "appwrapper-manager",
        (f"--kubeconfig={site.kubeconfig}", "--zap-log-level=error"),
        {"NAMESPACE": _NAMESPACE},
        # Its readyz would start the webhooks' server.
        f"http://{probe}/healthz",
    )
    return Setup((namespace(_NAMESPACE), config), (process,))
