"""How much one connection asks for at once. A server that has more waiting for a client than its `max_pending` (64 MiB
where nothing else is said) ends the connection, so all that is asked for over one, and has not arrived, stays below
that: eight of the largest messages, `max_payload`, of which Fairway's servers take 8 MiB."""

import asyncio

import msgspec
from msgspec import Struct

from fairway.runtime.ports import Delivery

# Messages asked for ahead of use, about: two full batches of the loop.
_CREDIT = 512
# An unanswered pull request ends by itself after this long; the server sends a heartbeat twice in it.
_EXPIRES_S = 20
HEARTBEAT_S = 5
# One that asks for a message that is there is answered at once; who else has taken it meanwhile holds nobody up.
_LARGE_EXPIRES_S = 2
# Subject and reply of a message count beside it, and a line of NATS has so many bytes for both.
_LINE = 4_096
# Of `max_payload`: two of it for the first readers of a connection, three for the others, and one for the message that
# is larger than any reader's share. That leaves two for what is fetched by its number.
_FIRST = 16
_SHARE = 8
_SMALL_SHARE = 32
_SMALL = 96


class Budget:
    """What the readers of one connection may ask for together. A service's own readers are never kept waiting; who
    reads the past waits until another has read enough."""

    def __init__(self, max_payload: int) -> None:
        self.largest = max_payload + _LINE
        self.one_large = asyncio.Lock()
        self._first = max_payload // _SHARE
        self._others = max_payload // _SMALL_SHARE
        self._free_first = _FIRST
        self._seats = asyncio.Semaphore(_SMALL)

    def take(self) -> int:
        """Bytes of a reader, for as long as it reads."""
        if self._free_first <= 0:
            return self._others
        self._free_first -= 1
        return self._first

    async def seat(self) -> int:
        """As `take`, when there is room for one more."""
        if self._free_first > 0:
            return self.take()
        await self._seats.acquire()
        return self._others

    def give_back(self, share: int, seated: bool) -> None:
        if share == self._first:
            self._free_first += 1
        elif seated:
            self._seats.release()


class Credit(Struct):
    """Of one reader with `share` bytes: what it has asked for and not been given, and what it has and nobody has
    taken. One request at a time: a server says nothing of the bytes that are left when all messages of it were sent."""

    share: int
    asked: int = 0
    left: int = 0
    waiting: int = 0
    held: int = 0
    each: float = 1.0  # messages of a bundle, on average of late
    large: bool = False  # the next message is larger than what may be asked for at any time
    # The newest of each subject of the past: a server that finds one of them larger than what it may send never sends
    # it (nats-server 2.15), so they are asked for one by one, of any size.
    singly: bool = False

    @property
    def wants(self) -> bool:
        """Whether it is time to ask: half of what is asked for was taken."""
        return not self.asked and self.waiting <= _CREDIT // 2 and self.held <= self.share // 2

    def request(self) -> bytes:
        self.asked = max(1, int((_CREDIT - self.waiting) / self.each))
        self.left = self.share - self.held
        return _request(self.asked, self.left, _EXPIRES_S, idle_heartbeat=HEARTBEAT_S * 10**9)

    def request_large(self, largest: int) -> bytes:
        self.asked = 1
        self.left = largest
        return _request(1, 0 if self.singly else largest, _LARGE_EXPIRES_S)

    def came(self, size: int, deliveries: list[Delivery]) -> None:
        self.asked = max(0, self.asked - 1)
        self.left = self.left - size
        self.large = False
        self.each += (len(deliveries) - self.each) / 32
        self.waiting += len(deliveries)
        self.held += sum(len(one.data) for one in deliveries)
        self.singly = self.singly and deliveries[-1].left > 0

    def taken(self, deliveries: list[Delivery]) -> None:
        self.waiting -= len(deliveries)
        self.held -= sum(len(one.data) for one in deliveries)

    def over(self, too_large: bool = False) -> None:
        """The request has ended. What did not fit into half a share is larger than some request will ever be."""
        self.large = too_large and bool(self.asked) and self.left >= self.share // 2
        self.asked = 0


def _request(batch: int, most: int, expires_s: int, **more: int) -> bytes:
    bytes_ = {"max_bytes": most} if most else {}
    return msgspec.json.encode({"batch": batch, "expires": expires_s * 10**9, **bytes_, **more})
