"""LeaderWorkerSet, with the webhooks that fill in its defaults and say of a pod which of its group it is."""

from fairway.lab.kubereal.operators.setup import Hook, Setup, Site, configuration, manager

_SETS = ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets")
_ITS_PODS = "leaderworkerset.sigs.k8s.io/name"


def lws(site: Site) -> Setup:
    certificates = f"{site.serving()['TMPDIR']}/k8s-webhook-server/serving-certs"
    made = manager(
        site,
        "lws-manager",
        "config.lws.x-k8s.io/v1alpha1",
        internalCertManagement={"enable": False},
        webhook={"certDir": certificates},
    )
    sets = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
    filled = Hook("mleaderworkerset.kb.io", f"/mutate-{sets}", *_SETS)
    told = Hook("mpod.kb.io", "/mutate--v1-pod", "", "v1", "pods", ("CREATE",), label=_ITS_PODS)
    judged = Hook("vleaderworkerset.kb.io", f"/validate-{sets}", *_SETS)
    objects = (
        configuration("Mutating", "lws-mutating-webhook-configuration", made.webhook, site.pair.ca, [filled, told]),
        configuration("Validating", "lws-validating-webhook-configuration", made.webhook, site.pair.ca, [judged]),
    )
    return Setup(objects, (made.process,))
