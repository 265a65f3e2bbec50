"""Volcano: its controllers, its scheduler for gangs, and the webhooks that fill in a Job's defaults or refuse it."""

from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration
from fairway.lab.processes.server import free_ports

_CONTROLLERS = "+gc-controller,+job-controller,+pg-controller,+queue-controller"
_PLUGINS = (("priority", "gang", "conformance"), ("overcommit", "predicates", "proportion", "nodeorder", "binpack"))
# How long freed room waits for a gang, at most; Volcano's own second is long for a test.
_PERIOD = "200ms"
# Those of Jobs; the others would see every pod of the cluster.
_WEBHOOKS = (
    ("Mutating", "/jobs/mutate", "mutatejob.volcano.sh", ("CREATE",)),
    ("Validating", "/jobs/validate", "validatejob.volcano.sh", ("CREATE", "UPDATE")),
)


def volcano(site: Site) -> Setup:
    (port,) = free_ports(1)
    common = (
        "--kubeconfig",
        site.kubeconfig,
        "--logtostderr",
        "-v=1",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    )
    env = {"DEBUG_SOCKET_DIR": str(site.plane.dir / "volcano-sockets")}
    alone = "--leader-elect=false"
    return Setup(
        objects=tuple(
            configuration(
                kind,
                f"volcano-admission-service{path.replace('/', '-')}",
                port,
                site.pair.ca,
                [Hook(name, path, "batch.volcano.sh", "v1alpha1", "jobs", operations)],
            )
            for kind, path, name, operations in _WEBHOOKS
        ),
        processes=(
            OperatorProcess("volcano-controller-manager", (*common, alone, f"--controllers={_CONTROLLERS}"), env),
            OperatorProcess("volcano-scheduler", (*common, alone, *_scheduling(site)), env),
            OperatorProcess(
                "volcano-webhook-manager", (*common, *_serving(site, port)), probe=f"tcp://127.0.0.1:{port}"
            ),
        ),
        present=("/apis/scheduling.volcano.sh/v1beta1/queues/default",),
    )


def _scheduling(site: Site) -> tuple[str, ...]:
    tiers = "".join("- plugins:\n" + "".join(f"  - name: {plugin}\n" for plugin in tier) for tier in _PLUGINS)
    conf = site.write("volcano-scheduler.yaml", f'actions: "enqueue, allocate, preempt, backfill"\ntiers:\n{tiers}')
    return f"--scheduler-conf={conf}", f"--schedule-period={_PERIOD}", "--cache-dumper=false"


def _serving(site: Site, port: int) -> tuple[str, ...]:
    folder = site.plane.dir / "volcano-webhooks"
    site.pair.write(folder)
    return (
        f"--webhook-url=https://127.0.0.1:{port}",
        "--listen-address=127.0.0.1",
        f"--port={port}",
        f"--tls-cert-file={folder / 'tls.crt'}",
        f"--tls-private-key-file={folder / 'tls.key'}",
        f"--ca-cert-file={folder / 'ca.crt'}",
        f"--enabled-admission={','.join(path for _, path, *_ in _WEBHOOKS)}",
    )
