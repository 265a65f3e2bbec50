"""Every Ray dashboard of a cluster in one server. KubeRay reaches it as its HTTP proxy; the host says whose it plays.

A job runs for the time that `fairway.test/run-for` says, on the RayJob or on its head's template, and fails when
`fairway.test/exit-code` there is not 0.
"""

import asyncio

from aiohttp import web

from fairway.lab.kubereal.admin import Json, PlaneAdmin, admin
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubesim.pod_behaviour import EXIT_CODE, RUN_FOR, milliseconds

_DEFAULT_MS = 5_000
_JOBS = "/api/jobs/"


class _Job:
    def __init__(self, began: float, said: Json) -> None:
        self.began = began
        self.stopped = False
        self.fails = said.get(EXIT_CODE, "0") != "0"
        self.lasts_ms = milliseconds(said[RUN_FOR]) if RUN_FOR in said else _DEFAULT_MS

    def state(self, now: float) -> str:
        if self.stopped:
            return "STOPPED"
        if self.lasts_ms is None or (now - self.began) * 1000 < self.lasts_ms:
            return "RUNNING"
        return "FAILED" if self.fails else "SUCCEEDED"


class Dashboards:
    def __init__(self, api: PlaneAdmin) -> None:
        self._api = api
        self._jobs: dict[str, _Job] = {}

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The part of Ray's Jobs API that the operator uses."""
        namespace = request.host.split(".")[1] if "." in request.host else "default"
        name, _, verb = request.path.removeprefix(_JOBS).partition("/")
        if request.method == "POST" and not verb:
            said = await request.json()
            await self._job(namespace, said.get("submission_id", ""))
            return web.json_response({"job_id": said.get("submission_id"), "submission_id": said.get("submission_id")})
        if request.method == "POST" and verb == "stop":
            (await self._job(namespace, name)).stopped = True
            return web.json_response({"stopped": True})
        if request.method == "GET" and request.path.startswith(_JOBS) and name:
            return web.json_response(self._info(name, await self._job(namespace, name)))
        return web.json_response([] if request.method == "GET" else {})

    async def _job(self, namespace: str, id: str) -> _Job:
        if id not in self._jobs:
            said = await self._annotations(namespace, id)
            self._jobs.setdefault(id, _Job(asyncio.get_running_loop().time(), said))
        return self._jobs[id]

    async def _annotations(self, namespace: str, id: str) -> Json:
        found = await self._api.get(f"/apis/ray.io/v1/namespaces/{namespace}/rayjobs") or {"items": []}
        for job in found["items"]:
            if (job.get("status") or {}).get("jobId") == id:
                head: Json = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"].get("metadata") or {}
                return {**(head.get("annotations") or {}), **(job["metadata"].get("annotations") or {})}
        return {}

    def _info(self, id: str, job: _Job) -> Json:
        loop = asyncio.get_running_loop()
        state = job.state(loop.time())
        began = int(job.began * 1000)
        ended = int(loop.time() * 1000) if state != "RUNNING" else 0
        return {
            "type": "SUBMISSION",
            "submission_id": id,
            "job_id": id,
            "entrypoint": "",
            "status": state,
            "message": state.lower(),
            "start_time": began,
            "end_time": ended,
        }


async def serve(plane: Plane, port: int) -> None:
    """Until it is cancelled."""
    async with admin(plane) as api:
        runner = web.ServerRunner(web.Server(Dashboards(api).answer, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()
