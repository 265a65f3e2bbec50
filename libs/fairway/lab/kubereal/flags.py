"""The flags of a control plane on a laptop: everything on 127.0.0.1, RBAC on, nothing waits for a leader."""

from pathlib import Path

# kwok's own default overlaps with nothing here, but pods of several clusters are easier told apart so.
_PODS = "10.128.0.1/16"
_SERVICES = "10.96.0.0/16"
# Where nobody makes an account for each namespace, no pod could be made either: it would want the token of one.
WITHOUT_CONTROLLERS = ("--disable-admission-plugins=ServiceAccount",)


def etcd(data: Path, client: int, peer: int) -> list[str]:
    """Without fsync: what these clusters hold is not kept beyond their processes."""
    here = f"http://127.0.0.1:{client}"
    there = f"http://127.0.0.1:{peer}"
    return [
        f"--data-dir={data}",
        f"--listen-client-urls={here}",
        f"--advertise-client-urls={here}",
        f"--listen-peer-urls={there}",
        f"--initial-advertise-peer-urls={there}",
        f"--initial-cluster=default={there}",
        "--unsafe-no-fsync",
        "--log-level=error",
    ]


def api_server(name: str, dir: Path, port: int, store: str) -> list[str]:
    """Limits on requests in flight are off: they would throttle on two cores what a real control plane takes."""
    return [
        f"--etcd-servers={store}",
        f"--etcd-prefix=/{name}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={dir / 'certs'}",
        f"--token-auth-file={dir / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        f"--service-account-key-file={dir / 'sa.key'}",
        f"--service-account-signing-key-file={dir / 'sa.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-cluster-ip-range={_SERVICES}",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--enable-priority-and-fairness=false",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
    ]


def controller_manager(kubeconfig: Path, dir: Path, rate: int = 0) -> list[str]:
    absent = ("nodeipam", "cloud-node-lifecycle-controller", "service-lb-controller", "node-route-controller")
    return [
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={dir / 'sa.key'}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--secure-port=0",
        f"--controllers=*,{','.join(f'-{one}' for one in absent)}",
        *_asking(rate),
    ]


def scheduler(kubeconfig: Path, rate: int = 0) -> list[str]:
    """It takes its Lease, by which others can tell that it is there."""
    return [f"--kubeconfig={kubeconfig}", "--leader-elect=true", "--secure-port=0", *_asking(rate)]


def _asking(rate: int) -> tuple[str, ...]:
    """How many requests a second it makes at most; 0 leaves it at its own limit."""
    return (f"--kube-api-qps={rate}", f"--kube-api-burst={2 * rate}") if rate else ()


def kwok(kubeconfig: Path, stages: Path) -> list[str]:
    """Kubelets for every node. The pods' stages are ours: they follow annotations of the pod. What is said of a node
    with the annotation fairway.test/status=kept is left as it is."""
    return [
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes=true",
        "--node-lease-duration-seconds=40",
        f"--cidr={_PODS}",
        "--disregard-status-with-annotation-selector=fairway.test/status=kept",
    ]
