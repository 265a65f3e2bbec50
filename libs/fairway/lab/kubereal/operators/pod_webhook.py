"""koord-manager's own webhook for pods: it gives them what a ClusterColocationProfile says, and writes their cpu and
memory as batch resources where their class is koord-batch."""

from msgspec import Struct

from fairway.lab.kubereal.admin import Json
from fairway.lab.kubereal.operators.setup import Hook, Site, configuration
from fairway.lab.processes.server import free_ports
from fairway.runtime import private_files

# By these names koord-manager looks for them, and writes the certificate of its authority into them.
_CONFIGURATIONS = (
    (
        "Mutating",
        "koordinator-mutating-webhook-configuration",
        Hook("mpod-create.koordinator.sh", "/mutate-pod", "", "v1", "pods", ("CREATE",)),
    ),
    (
        "Validating",
        "koordinator-validating-webhook-configuration",
        Hook("vpod.koordinator.sh", "/validate-pod", "", "v1", "pods"),
    ),
)
# Those of other kinds would see quotas, which nobody makes here.
_PODS_ALONE = "--feature-gates=ElasticMutatingWebhook=false,ElasticValidatingWebhook=false"


class PodWebhook(Struct, frozen=True):
    """What koord-manager is started with for it. `probe` answers 200 when pods may be shown to it."""

    flags: tuple[str, ...]
    env: dict[str, str] = {}
    objects: tuple[Json, ...] = ()
    probe: str = ""


WITHOUT_WEBHOOK = PodWebhook(("--health-probe-addr=0", "--feature-gates=WebhookFramework=false"))


def pod_webhook(site: Site) -> PodWebhook:
    port, health = free_ports(2)
    env = {"WEBHOOK_HOST": "127.0.0.1", "WEBHOOK_PORT": str(port), "WEBHOOK_CERT_DIR": _certificates(site)}
    return PodWebhook(
        flags=(f"--health-probe-addr=127.0.0.1:{health}", _PODS_ALONE),
        env=env,
        objects=tuple(configuration(kind, name, port, site.pair.ca, [hook]) for kind, name, hook in _CONFIGURATIONS),
        probe=f"http://127.0.0.1:{health}/readyz",
    )


def _certificates(site: Site) -> str:
    """The folder where it looks for what it made at an earlier start. With ours in it, it makes none: then the API
    server trusts the same authority from the first pod on."""
    folder = site.plane.dir / "koordinator-webhook"
    private_files.folder(folder)
    pair = site.pair
    kept = {
        "ca-cert.pem": pair.ca,
        "ca-key.pem": pair.ca_key,
        "cert.pem": pair.certificate,
        "tls.crt": pair.certificate,
        "key.pem": pair.key,
        "tls.key": pair.key,
    }
    for name, content in kept.items():
        private_files.write(folder / name, content)
    return str(folder)
