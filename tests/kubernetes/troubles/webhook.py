"""An admission webhook of a member: HTTPS on 127.0.0.1, registered by URL, that a test can break and mend."""

import ssl
from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from fairway.lab.kubereal.certificates import pair
from tests.kubernetes.support.fleet import Api

Json = dict[str, Any]
_CONFIGURATIONS = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Webhook:
    """Asked of every Job that is made in namespace `tenant`. It refuses with `refusal` when there is one; while it is
    not started nobody answers at its address, and as its failurePolicy is Fail nothing is taken. `asked`: names."""

    def __init__(self, folder: Path, tenant: str, refusal: str = "") -> None:
        self.tenant = tenant
        self.refusal = refusal
        self.asked: list[str] = []
        self.name = f"{tenant}.example.org"
        pair().write(folder)
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self._port = 0
        self._runner: web.ServerRunner | None = None

    async def start(self) -> None:
        """Again at the same port, if it was stopped."""
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=self._tls).start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        review: Json = msgspec.json.decode(await request.read())
        asked = review["request"]
        self.asked.append(asked["name"])
        answer: Json = {"uid": asked["uid"], "allowed": not self.refusal}
        if self.refusal:
            answer["status"] = {"code": 403, "message": self.refusal}
        body = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}
        return web.Response(body=msgspec.json.encode(body), content_type="application/json")

    def register(self, api: Api) -> None:
        rule = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
        authority = b64encode(pair().ca).decode()
        hook = {
            "name": self.name,
            "rules": [rule],
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": 2,
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": f"https://127.0.0.1:{self._port}/validate", "caBundle": authority},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.tenant}},
        }
        api.create(_CONFIGURATIONS, {"metadata": {"name": self.name}, "webhooks": [hook]})

    def unregister(self, api: Api) -> None:
        api.delete(f"{_CONFIGURATIONS}/{self.name}")
