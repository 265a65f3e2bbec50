"""The process of deploy/member/pull.yaml, with what its pod would have: no kubelet runs containers here."""

import asyncio
from typing import Any

import httpx
import yaml

from fairway.lab.processes.server import free_ports
from fairway.lab.processes.service import Child
from tests.kubernetes.rights import rbac
from tests.kubernetes.rights.fleet import RightsHouse
from tests.paths import ROOT

Json = dict[str, Any]
PULL = ROOT / "deploy" / "member" / "pull.yaml"
# How an API server notes which pod a token is bound to.
POD = "authentication.kubernetes.io/pod-name"
_OURS = "app.kubernetes.io/component=member"


class InPod:
    """`pod` is the one that the Deployment made, `token` is bound to it; `probes` are the paths that a kubelet asks."""

    def __init__(self, pod: str, token: str, container: Json, child: Child, port: int) -> None:
        self.pod = pod
        self.token = token
        self._child = child
        self._port = port
        self.probes = [container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")]

    def answers(self, path: str) -> int:
        return httpx.get(f"http://127.0.0.1:{self._port}{path}", trust_env=False).status_code

    async def stop(self) -> None:
        await self._child.stop()


async def in_pod(place: RightsHouse) -> InPod:
    """Applies the manifest, with the name and the bus filled in, and runs what it says."""
    bus = place.home.environment["FAIRWAY_NATS_URL"].rpartition(":")[2]
    secret, deployment = yaml.safe_load_all(PULL.read_text().replace("NAME", "north"))
    secret["stringData"]["url"] = f"nats://north:secret@127.0.0.1:{bus}"
    place.north.apply(secret, deployment)
    pods = await place.until(lambda: place.north.pods(rbac.HOME, _OURS), "the Deployment has made its pod")
    name = pods[0]["metadata"]["name"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    words = ("-n", rbac.HOME, "create", "token", pods[0]["spec"]["serviceAccountName"])
    bound = ("--bound-object-kind", "Pod", "--bound-object-name", name)
    token = (await asyncio.to_thread(place.north.kubectl, *words, *bound)).strip()
    folder = place.home.dir / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_bytes(place.authority.certificate)
    (port,) = free_ports(1)
    environment = {
        **{one["name"]: one.get("value") or secret["stringData"][_key(one)] for one in container["env"]},
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(place.home.planes["north"].port),
        "FAIRWAY_SERVICE_ACCOUNT_DIR": str(folder),
        "FAIRWAY_HTTP_PORT": str(port),
    }
    log = place.home.dir / "in-pod.log"
    child = Child("in-pod", "fairway.cli.main", [*container["args"], "--announce"], log, environment)
    place.home.children.append(child)
    await child.start()
    return InPod(name, token, container, child, port)


def _key(variable: Json) -> str:
    return str(variable["valueFrom"]["secretKeyRef"]["key"])
