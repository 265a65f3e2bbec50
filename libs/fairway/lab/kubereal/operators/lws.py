"""LeaderWorkerSet, with the webhooks that fill in its defaults and say of a pod which of its group it is."""

import msgspec

from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration
from fairway.lab.processes.server import free_ports

_SETS = ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets")
_ITS_PODS = "leaderworkerset.sigs.k8s.io/name"


def lws(site: Site) -> Setup:
    webhook, health = free_ports(2)
    env = site.serving()
    certificates = f"{env['TMPDIR']}/k8s-webhook-server/serving-certs"
    config = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": certificates},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
    }
    path = site.write("lws.json", msgspec.json.encode(config).decode())
    args = (f"--kubeconfig={site.kubeconfig}", f"--config={path}", "--zap-log-level=error")
    process = OperatorProcess("lws-manager", args, env, f"http://127.0.0.1:{health}/readyz")
    sets = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
    filled = Hook("mleaderworkerset.kb.io", f"/mutate-{sets}", *_SETS)
    told = Hook("mpod.kb.io", "/mutate--v1-pod", "", "v1", "pods", ("CREATE",), label=_ITS_PODS)
    judged = Hook("vleaderworkerset.kb.io", f"/validate-{sets}", *_SETS)
    objects = (
        configuration("Mutating", "lws-mutating-webhook-configuration", webhook, site.pair.ca, [filled, told]),
        configuration("Validating", "lws-validating-webhook-configuration", webhook, site.pair.ca, [judged]),
    )
    return Setup(objects, (process,))
