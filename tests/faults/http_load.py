"""The same load over HTTP: whoever gets no answer, or is told to come back, sends the same again to another gateway."""

import asyncio
from itertools import count

import httpx
from arena import Arena
from load import rows, told_to_stop

from fairway.app.replay_trace import TraceJob, manifest

# A gateway that has not answered for so long is given up for this try (s); one that stands still never does.
_ANSWER_S = 2.0
# So many submissions are in hand at once: while no gateway answers, more of them would only keep this process busy,
# through which everything passes.
_AT_ONCE = 16


class HttpLoad:
    """Submits to every process of the arena that is called a gateway, in turn. `sent` are the jobs that the answers
    name, one for each submission; `refused` counts tries without a good answer."""

    def __init__(self, arena: Arena, a_second: float) -> None:
        self._arena, self._every_s = arena, 1 / a_second
        self._over = asyncio.Event()
        self.sent: list[str] = []
        self.refused = self.begun = 0

    def stop(self) -> None:
        self._over.set()

    async def run(self) -> None:
        """Returns when it was told to stop, and all that was begun until then is accepted."""
        free = asyncio.Semaphore(_AT_ONCE)
        async with httpx.AsyncClient(timeout=_ANSWER_S) as client, asyncio.TaskGroup() as group:
            for number, row in enumerate(rows()):
                await free.acquire()
                self.begun += 1
                group.create_task(self._insist(client, number, row)).add_done_callback(lambda _: free.release())
                if await told_to_stop(self._over, self._every_s):
                    return

    async def _insist(self, client: httpx.AsyncClient, number: int, row: TraceJob) -> None:
        for turn in count(number):
            job = await self._submitted(client, turn, f"load-{number}", row)
            if job:
                self.sent.append(job)
                return
            self.refused += 1
            await asyncio.sleep(0.2)

    async def _submitted(self, client: httpx.AsyncClient, turn: int, key: str, row: TraceJob) -> str:
        """The job; empty when nobody knows, or nothing was accepted."""
        doors = [child for name, child in self._arena.processes.items() if "gateway" in name and child.said]
        if not doors:
            return ""
        url = f"{doors[turn % len(doors)].said['http']}/v1/jobs"
        body = {"manifest": manifest(row, round(row.seconds * 1000))}
        try:
            answer = await client.post(url, json=body, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            return ""
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return ""
        assert answer.is_success, f"{answer.status_code}: {answer.text}"
        return str(answer.json()["job"])
