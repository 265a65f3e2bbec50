"""The same load over HTTP: whoever gets no answer, or is told to come back, sends the same again to another gateway."""

import asyncio
from itertools import count
from typing import Any

import httpx

from fairway.lab.traces.trace import TraceJob, manifest
from tests.faults.arena.arena import Arena
from tests.faults.arena.load import regrets, rows, told_to_stop

# A gateway that has not answered for so long is given up for this try (s); one that stands still never does.
_ANSWER_S = 2.0
# So many submissions are in hand at once: while no gateway answers, more of them would only keep this process busy,
# through which everything passes.
_AT_ONCE = 16


class HttpLoad:
    """Submits to every process of the arena that is called a gateway, in turn, and cancels a `share` of what it has
    submitted. `sent` are the jobs that the answers name, one for each submission; `refused` counts tries without a good
    answer."""

    def __init__(self, arena: Arena, a_second: float, share: float) -> None:
        self._arena = arena
        self._every_s = 1 / a_second
        self._regrets = regrets(share)
        self._over = asyncio.Event()
        self.sent: list[str] = []
        self.refused = self.begun = 0

    def stop(self) -> None:
        self._over.set()

    async def run(self) -> None:
        """Returns when it was told to stop, and all that was begun until then is accepted, and cancelled if it is to
        be."""
        free = asyncio.Semaphore(_AT_ONCE)
        known = {"Authorization": f"Bearer {self._arena.token}"}
        async with httpx.AsyncClient(timeout=_ANSWER_S, headers=known) as client, asyncio.TaskGroup() as group:
            for number, (row, regret) in enumerate(zip(rows(), self._regrets, strict=False)):
                await free.acquire()
                self.begun += 1
                one = self._one(client, number, row, regret)
                group.create_task(one).add_done_callback(lambda _: free.release())
                if await told_to_stop(self._over, self._every_s):
                    return

    async def _one(self, client: httpx.AsyncClient, number: int, row: TraceJob, regret: float | None) -> None:
        submission = {
            "headers": {"Idempotency-Key": f"load-{number}"},
            "json": {"manifest": manifest(row, round(row.seconds * 1000))},
        }
        answer = await self._insist(client, number, "POST", "", **submission)
        job = str(answer.json()["job"])
        self.sent.append(job)
        if regret is not None:
            await asyncio.sleep(regret)
            await self._insist(client, number, "DELETE", f"/{job}")

    async def _insist(self, client: httpx.AsyncClient, first: int, *asked: str, **more: Any) -> httpx.Response:
        for turn in count(first):
            answer = await self._answer(client, turn, *asked, **more)
            if answer is not None:
                return answer
            self.refused += 1
            await asyncio.sleep(0.2)
        raise AssertionError("there are always more turns")

    async def _answer(
        self, client: httpx.AsyncClient, turn: int, method: str, path: str, **more: Any
    ) -> httpx.Response | None:
        """None when nobody knows, or nothing was changed."""
        doors = [child for name, child in self._arena.processes.items() if "gateway" in name and child.said]
        if not doors:
            return None
        try:
            answer = await client.request(method, f"{doors[turn % len(doors)].said['http']}/v1/jobs{path}", **more)
        except httpx.TransportError:
            return None
        # A job that was accepted is unknown until it was admitted.
        unknown = httpx.codes.NOT_FOUND if method == "DELETE" else httpx.codes.SERVICE_UNAVAILABLE
        if answer.status_code in (httpx.codes.SERVICE_UNAVAILABLE, unknown):
            return None
        assert answer.is_success, f"{answer.status_code}: {answer.text}"
        return answer
