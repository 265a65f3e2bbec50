"""Kubeflow's trainer: TrainJobs, of each of which it makes a JobSet, so the JobSet operator has to run beside it."""

from fairway.lab.kubereal.operators.setup import Hook, Setup, Site, configuration, manager

_GROUP = "trainer.kubeflow.org"
_VERSION = "v1alpha1"
_VALIDATED = ("trainjob", "trainingruntime", "clustertrainingruntime")


def trainer(site: Site) -> Setup:
    settings = f"config.{_GROUP}/v1alpha1"
    made = manager(site, "trainer-controller-manager", settings, certManagement={"enable": False})
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
    validation = configuration("Validating", "validator.trainer.kubeflow.org", made.webhook, site.pair.ca, hooks)
    return Setup((validation,), (made.process,))
