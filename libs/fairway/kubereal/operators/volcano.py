"""Volcano: its controllers, and its scheduler for gangs. No webhooks: Fairway sends what they would fill in."""

from fairway.kubereal.operators.setup import Process, Setup, Site

_CONTROLLERS = "+gc-controller,+job-controller,+pg-controller,+queue-controller"
_PLUGINS = (("priority", "gang", "conformance"), ("overcommit", "predicates", "proportion", "nodeorder", "binpack"))
# How long freed room waits for a gang, at most; Volcano's own second is long for a test.
_PERIOD = "200ms"


def volcano(site: Site) -> Setup:
    tiers = "".join(
        "- plugins:\n" + "".join(f"  - name: {plugin}\n" for plugin in tier) for tier in _PLUGINS
    )  # fmt: skip
    conf = site.write("volcano-scheduler.yaml", f'actions: "enqueue, allocate, preempt, backfill"\ntiers:\n{tiers}')
    common = ("--kubeconfig", site.kubeconfig, "--leader-elect=false", "--logtostderr", "-v=1",
              "--kube-api-qps=500", "--kube-api-burst=1000")  # fmt: skip
    env = {"DEBUG_SOCKET_DIR": str(site.plane.dir / "volcano-sockets")}
    return Setup(
        processes=(
            Process("volcano-controller-manager", (*common, f"--controllers={_CONTROLLERS}"), env),
            Process(
                "volcano-scheduler",
                (*common, f"--scheduler-conf={conf}", f"--schedule-period={_PERIOD}", "--cache-dumper=false"),
                env,
            ),
        ),
        present=("/apis/scheduling.volcano.sh/v1beta1/queues/default",),
    )
