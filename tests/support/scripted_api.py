"""An API server that answers what a test wrote down: for answers that a well-behaved one gives too rarely."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
CONFIG_MAPS = {
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        {"name": "namespaces", "kind": "Namespace", "namespaced": False},
    ]
}


def json(body: Any, status: int = 200, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(body=msgspec.json.encode(body), status=status, content_type="application/json", headers=named)


def status(code: int, reason: str, **details: str) -> web.Response:
    return json(
        {"kind": "Status", "reason": reason, "message": f"no: {reason}", "code": code, "details": details}, code
    )


class ScriptedApi:
    """Hands out `answers` in order, and the last one for ever; discovery of /api/v1 is always answered, and so is the
    question whose a namespace is, with `namespace`. RoleBindings are answered with `binding`; `bound` counts them."""

    def __init__(self, *answers: web.Response | Answer) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.namespace = json({"metadata": {"name": "team", "labels": {"fairway.io/tenant": "team"}}})
        self.binding = json({"metadata": {"name": "fairway-tenant"}}, 201)
        self.looks = 0
        self.bound = 0
        self._runner = web.ServerRunner(web.Server(self._handle), shutdown_timeout=0.1)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/api/v1":
            return json(CONFIG_MAPS)
        if request.method == "GET" and request.path == "/api/v1/namespaces/team":
            self.looks += 1
            return _again(self.namespace)
        if request.path.endswith("/rolebindings"):
            self.bound += 1
            return _again(self.binding)
        self.asked.append(f"{request.method} {request.path_qs}")
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not isinstance(answer, web.Response):
            return await answer(request)
        return _again(answer)

    async def __aenter__(self) -> "ScriptedApi":
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def kubeconfig(self) -> dict[str, Any]:
        server = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "secret"}}],
        }


def _again(answer: web.Response) -> web.Response:
    """An answer can be sent once."""
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Length"}
    return web.Response(body=answer.body, status=answer.status, headers=headers)
