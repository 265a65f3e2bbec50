"""Kubeflow's training-operator: its job kinds of kubeflow.org/v1, with or without Volcano's gangs.

It runs JAXJobs from 1.9 on and no MXJobs any more, so a later one runs beside it for JAXJobs alone.
"""

import base64
import contextlib
from pathlib import Path

from msgspec import Struct

from fairway.lab.kubereal.operators.setup import Hook, OperatorProcess, Setup, Site, configuration, namespace
from fairway.lab.processes.server import free_ports

_NAMESPACE = "kubeflow"
# Fixed in the operator's code: it waits until files are there, and then reads those below TMPDIR.
_FIXED = Path("/tmp/k8s-webhook-server/serving-certs")
_VALIDATED = ("mxjob", "paddlejob", "pytorchjob", "tfjob", "xgboostjob")
# The operator looks for this one, and renews what it trusts.
_CONFIGURATION = "validator.training-operator.kubeflow.org"


class _Version(Struct, frozen=True):
    """`validated` are the kinds that it looks at before they are stored; it runs `unseen`, too."""

    program: str
    configuration: str
    validated: tuple[str, ...]
    unseen: tuple[str, ...] = ()


_TRAINING = _Version("training-operator", _CONFIGURATION, _VALIDATED, ("mpijob",))
_JAX = _Version("jax-operator", f"jax.{_CONFIGURATION}", ("jaxjob",))


def training(site: Site) -> Setup:
    return _setup(site, _TRAINING)


def training_volcano(site: Site) -> Setup:
    """Every job's pods wait for a PodGroup of Volcano."""
    return _setup(site, _TRAINING, "--gang-scheduler-name=volcano")


def jax(site: Site) -> Setup:
    return _setup(site, _JAX)


def _setup(site: Site, version: _Version, *flags: str) -> Setup:
    webhook, health = free_ports(2)
    env = site.serving()
    _please()
    process = OperatorProcess(
        version.program,
        (
            "--kubeconfig",
            site.kubeconfig,
            "--metrics-bind-address=0",
            "--zap-log-level=info",
            f"--health-probe-bind-address=127.0.0.1:{health}",
            f"--webhook-server-port={webhook}",
            *(f"--enable-scheme={kind}" for kind in (*version.unseen, *version.validated)),
            "--controller-threads=4",
            *flags,
        ),
        env,
        f"http://127.0.0.1:{health}/readyz",
    )
    hooks = [
        Hook(
            f"validator.{kind}.training-operator.kubeflow.org",
            f"/validate-kubeflow-org-v1-{kind}",
            "kubeflow.org",
            "v1",
            f"{kind}s",
        )
        for kind in version.validated
    ]
    validation = configuration("Validating", version.configuration, webhook, site.pair.ca, hooks)
    return Setup((namespace(_NAMESPACE), _secret(site), validation), (process,))


def _secret(site: Site) -> dict[str, object]:
    pair = site.pair
    data = {"ca.crt": pair.ca, "ca.key": pair.ca_key, "tls.crt": pair.certificate, "tls.key": pair.key}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "training-operator-webhook-cert", "namespace": _NAMESPACE},
        "data": {name: base64.b64encode(value).decode() for name, value in data.items()},
    }


def _please() -> None:
    """Files that are there and hold nothing: nobody reads them, and other users' operators look for them too."""
    for folder in (_FIXED.parent, _FIXED):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    for name in ("tls.crt", "tls.key"):
        with contextlib.suppress(FileExistsError):
            (_FIXED / name).touch(0o600, exist_ok=False)
