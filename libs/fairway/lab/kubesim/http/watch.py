"""Watches: every change of a collection from a version on, as a stream of lines."""

import asyncio
from collections.abc import Callable

import msgspec
from aiohttp import web

from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError
from fairway.lab.kubesim.api.registry import ApiResource, Target
from fairway.lab.kubesim.api.selectors import Match, both, seen
from fairway.lab.kubesim.api.store import Event, StoredObject
from fairway.lab.kubesim.faults import Faults
from fairway.lab.kubesim.http.query import flag, seconds
from fairway.lab.kubesim.tables.table import Table

# A bookmark a minute, as the watch cache of a real API server sends them.
BOOKMARK_SECONDS = 60.0
# A watcher that is this far behind is cut off and lists again.
MOST_BEHIND = 50_000
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

Line = Callable[[str, StoredObject], bytes]


def lines(resource: ApiResource, table: Table | None) -> Line:
    def line(kind: str, stored: StoredObject) -> bytes:
        shown = table.of([stored], stored.version) if table else stored.encoded(resource.api_version)
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), shown)

    return line


class WatchStream:
    """One open watch. `pending` fills in the turn of the change, and is written by the request's task."""

    def __init__(self, api: ClusterApi, target: Target, match: Match | None, line: Line) -> None:
        self.api = api
        self.target = target
        self.match = match
        self.line = line
        self.pending: list[bytes] = []
        self.wake = asyncio.Event()
        self.cut = False

    def hear(self, event: Event) -> None:
        if self.target.namespace and event.new.key.namespace != self.target.namespace:
            return
        if self.target.name and event.new.key.name != self.target.name:
            return
        kind = seen(event, self.match)
        if kind:
            self.pending.append(self.line(kind, event.new))
            self.cut = self.cut or len(self.pending) > MOST_BEHIND
            self.wake.set()

    def end(self) -> None:
        self.cut = True
        self.wake.set()

    def begin(self, version: str, initial: bool) -> None:
        """Queue what lies before the stream: the events since `version`, or everything there is now."""
        storage = self.target.resource.storage
        if version not in ("", "0") and not initial:
            if not is_whole(version):
                raise ApiError(500, "", f'resourceVersion: Invalid value: "{version}": it is not a number')
            for event in self.api.store.since(storage, int(version)):
                self.hear(event)
            return
        for stored in self.api.store.shelf(storage, self.target.namespace):
            self.hear(Event("ADDED", stored))

    def bookmark(self, initial_end: bool = False) -> bytes:
        metadata: dict[str, object] = {"resourceVersion": str(self.api.store.version)}
        if initial_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        resource = self.target.resource
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return msgspec.json.encode({"type": "BOOKMARK", "object": obj}) + b"\n"


async def serve_watch(
    api: ClusterApi, request: web.BaseRequest, target: Target, table: Table | None, faults: Faults
) -> web.StreamResponse:
    query = request.query
    match = both(target.resource.storage, query.get("labelSelector", ""), query.get("fieldSelector", ""))
    stream = WatchStream(api, target, match, lines(target.resource, table))
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    bookmarks = flag(query, "allowWatchBookmarks")
    initial = flag(query, "sendInitialEvents")
    timeout = seconds(query, "timeoutSeconds")
    try:
        stream.begin(query.get("resourceVersion", ""), initial)
    except ApiError as error:
        if error.code == 500:
            raise
        await response.prepare(request)
        await response.write(msgspec.json.encode({"type": "ERROR", "object": error.body()}) + b"\n")
        return response
    if initial:
        stream.pending.append(stream.bookmark(initial_end=True))
    # From here to the listener nothing awaits, so no change falls between.
    stop = api.store.listen(target.resource.storage, stream.hear)
    faults.streams.add(stream.end)
    try:
        await response.prepare(request)
        await _pump(stream, response, bookmarks, timeout)
    except (ConnectionResetError, asyncio.CancelledError):
        pass
    finally:
        stop()
        faults.streams.discard(stream.end)
    return response


async def _pump(stream: WatchStream, response: web.StreamResponse, bookmarks: bool, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds if seconds else float("inf")
    next_bookmark = loop.time() + BOOKMARK_SECONDS
    while not stream.cut and loop.time() < end:
        if stream.pending:
            chunk = b"".join(stream.pending)
            stream.pending = []
            await response.write(chunk)
            continue
        stream.wake.clear()
        until = min(end, next_bookmark) if bookmarks else end
        timer = loop.call_at(until, stream.wake.set) if until != float("inf") else None
        await stream.wake.wait()
        if timer:
            timer.cancel()
        if bookmarks and loop.time() >= next_bookmark:
            next_bookmark += BOOKMARK_SECONDS
            stream.pending.append(stream.bookmark())
    if bookmarks and not stream.cut:
        # Changes may have come since the time was over. The bookmark has a newer version, so they stand before it.
        await response.write(b"".join((*stream.pending, stream.bookmark())))
