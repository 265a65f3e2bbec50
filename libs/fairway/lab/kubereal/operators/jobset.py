"""JobSet, with the webhooks that fill in its defaults."""

from fairway.lab.kubereal.operators.setup import Hook, Setup, Site, configuration, manager

_GROUP = "jobset.x-k8s.io"
_VERSION = "v1alpha2"


def jobset(site: Site) -> Setup:
    made = manager(
        site,
        "jobset-manager",
        "config.jobset.x-k8s.io/v1alpha1",
        internalCertManagement={"enable": False},
        clientConnection={"qps": 200, "burst": 400},
    )
    kinds = (("Mutating", "mutate", "mjobset.kb.io"), ("Validating", "validate", "vjobset.kb.io"))
    objects = [
        configuration(
            kind,
            f"jobset-{kind.lower()}-webhook-configuration",
            made.webhook,
            site.pair.ca,
            [Hook(name, f"/{verb}-jobset-x-k8s-io-v1alpha2-jobset", _GROUP, _VERSION, "jobsets")],
        )
        for kind, verb, name in kinds
    ]
    return Setup(tuple(objects), (made.process,))
