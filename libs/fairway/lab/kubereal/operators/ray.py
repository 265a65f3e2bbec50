"""KubeRay. The dashboards that it asks how a job stands are played by one stand-in, which it takes for a proxy."""

from functools import partial

from fairway.lab.kubereal.operators.setup import OperatorProcess, Setup, Site
from fairway.lab.kubereal.stand_ins.ray_dashboard import serve
from fairway.lab.processes.server import free_ports


def ray(site: Site) -> Setup:
    proxy, health = free_ports(2)
    args = (
        f"--kubeconfig={site.kubeconfig}",
        "--enable-leader-election=false",
        "--metrics-addr=0",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        "--reconcile-concurrency=2",
        "--log-stdout-encoder=console",
    )
    process = OperatorProcess(
        "ray-operator", args, {"HTTP_PROXY": f"http://127.0.0.1:{proxy}"}, f"http://127.0.0.1:{health}/readyz"
    )
    return Setup(processes=(process,), tasks=(partial(serve, site.plane, proxy),))
