"""What is tried on a real nats-server with each credential: to say, to hear, and to ask JetStream itself."""

import msgspec
import nats
from nats.aio.client import Client

from fairway.wire import subjects
from fairway.wire.inbound import CancelRequest, SubmitRequest
from tests.kubernetes.matrix.doors import Cell
from tests.kubernetes.matrix.fleet import House
from tests.support.http_door import job

USERS = ("fairway", "team-a", "team-b", "north", "stranger")
_ANSWER_S = 2.0
_encode = msgspec.json.encode


class Sent(msgspec.Struct):
    subject: str
    data: bytes


def _submit(place: str, token: str, mark: str) -> Sent:
    manifest = msgspec.Raw(_encode(job(mark, namespace=place)))
    return Sent(subjects.inbound("submit", token), _encode(SubmitRequest(manifest=manifest, client=mark)))


def sent(cell: Cell, ids: dict[str, str]) -> Sent:
    """What is said of a tenant is said on its own subject, unless it is told as whose."""
    verb, _, token = cell.what.partition(" as ")
    match verb:
        case "submit":
            return _submit(cell.place, token or cell.place, cell.mark)
        case "cancel":
            subject = subjects.inbound("cancel", token or cell.place)
            return Sent(subject, _encode(CancelRequest(job=ids[cell.mark])))
    subject = verb.removeprefix("say ")
    if subject.startswith("that there is "):
        subject = subjects.config("Cluster", "", subject.rpartition(" ")[2])
    return Sent(subject, _encode({"mark": cell.mark}))


class Connection:
    """`refused` are the complaints of the server about what was just done."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.refused = list[str]()
        self.client: Client | None = None

    async def open(self, user: str) -> None:
        async def complained(error: Exception) -> None:
            self.refused.append(str(error).lower())

        name = "" if user == "stranger" else user
        try:
            self.client = await nats.connect(
                self._house.nats_url(name), inbox_prefix=f"_INBOX_{user}", error_cb=complained, allow_reconnect=False
            )
        except nats.errors.Error as error:
            assert "authorization violation" in str(error).lower(), error

    async def tried(self, cell: Cell, ids: dict[str, str]) -> str:
        if self.client is None:
            return "out"
        self.refused.clear()
        if cell.what.startswith("hear "):
            return await self._heard(self.client, cell.what.removeprefix("hear "))
        if cell.what.startswith("ask "):
            return await self._asked(self.client, cell.what.removeprefix("ask "))
        one = sent(cell, ids)
        await self.client.publish(one.subject, one.data, headers={"Nats-Msg-Id": cell.mark})
        return "denied" if await self._is_refused(self.client) else "ok"

    async def _is_refused(self, client: Client) -> bool:
        """A server complains before it answers what is asked behind. The client sends the first question of the two
        before what it has collected."""
        await client.flush()
        await client.flush()
        assert all("permissions violation" in one for one in self.refused), self.refused
        return bool(self.refused)

    async def _heard(self, client: Client, subject: str) -> str:
        """The services say something there, where a star is taken for anything."""
        heard = await client.subscribe(subject)
        if await self._is_refused(client):
            return "denied"
        told = subject.replace("*", "probe").replace(">", "probe.probe")
        await self._house.bus.tell(told, b'{"probe":1}')
        try:
            await heard.next_msg(_ANSWER_S)
        except nats.errors.TimeoutError:
            return "silent"
        finally:
            await heard.unsubscribe()
        return "ok"

    async def _asked(self, client: Client, subject: str) -> str:
        inbox = client.new_inbox()
        answer = await client.subscribe(inbox)
        await client.publish(subject, _ASKED.get(subject, b""), reply=inbox)
        if await self._is_refused(client):
            return "denied"
        try:
            await answer.next_msg(_ANSWER_S)
        except nats.errors.TimeoutError:
            return "silent"
        return "ok"


_ASKED = {
    "$JS.API.STREAM.MSG.GET.JOBS": b'{"seq":1}',
    "$JS.API.DIRECT.GET.JOBS": b'{"seq":1}',
    "$JS.API.CONSUMER.CREATE.JOBS": b'{"stream_name":"JOBS","config":{"deliver_policy":"all","ack_policy":"none"}}',
}


async def all_tried(house: House, cells: list[Cell], ids: dict[str, str]) -> dict[Cell, str]:
    found: dict[Cell, str] = {}
    for user in USERS:
        connection = Connection(house)
        await connection.open(user)
        for cell in cells:
            if cell.role == user:
                found[cell] = await connection.tried(cell, ids)
        if connection.client is not None:
            await connection.client.close()
    return found
