"""Every subject, stream and service by its name, once; and what a row of the table of the flow says (`flow.py`)."""

import re
from base64 import b32encode
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct

STAGES = ("admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher")
# A door, and on the one loop as the stages.
INBOUND = "inbound"
# The objects of the cluster where tenants apply their jobs; on the one loop, too.
HUB = "hub"
LOOPS = (INBOUND, *STAGES, HUB)
GATEWAY = "gateway"
# Removes manifests of ended jobs from the record; nobody else deletes anything there.
KEEPER = "keeper"
AGENT = "agent"
# No services: a client of the tenant whose subject it is, and who operates the fleet.
TENANT = "tenant"
OPERATOR = "operator"
JOBS = "JOBS"
CLUSTERS = "CLUSTERS"
CONFIG = "CONFIG"
DLQ = "DLQ"
VIEWS = "VIEWS"
STATUS = "STATUS"
FOUND = "FOUND"
IN = "IN"
AUDIT = "AUDIT"
RELIEF = "RELIEF"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
# Every message that is heard is asked for its subject. Of longer names, which anybody can make up, none is remembered.
_KEPT = 128


def token(name: str) -> str:
    """A name as one subject token. What is not plain is hashed behind `~`, so that no two names share a token and
    no name can hold a dot, a wildcard, a space or a line end."""
    if _PLAIN.fullmatch(name):
        return name
    # Half of a surrogate pair is no character, but a Python string can hold it.
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=15).digest()
    return "~" + b32encode(digest).decode().lower()


def job(verb: str, tenant: str) -> str:
    return _job(verb, tenant) if len(tenant) < _KEPT else f"fairway.job.{verb}.{token(tenant)}"


@lru_cache(4096)
def _job(verb: str, tenant: str) -> str:
    return f"fairway.job.{verb}.{token(tenant)}"


def inbound(verb: str, tenant: str) -> str:
    """Where a tenant speaks on the bus, and nowhere else: `submit` and `cancel` (wire.inbound)."""
    return f"fairway.in.{token(tenant)}.{verb}"


def spoken(subject: str) -> tuple[str, str]:
    """The tenant's token and the verb of such a subject; both empty for another one."""
    words = subject.split(".")
    return (words[2], words[3]) if len(words) == 4 and words[:2] == ["fairway", "in"] else ("", "")


def cluster(verb: str, name: str) -> str:
    return f"fairway.cluster.{verb}.{token(name)}"


def config(kind: str, namespace: str, name: str) -> str:
    # Of no namespace is `-`; a name that begins so, which no namespace has, gets one more.
    place = f"-{namespace}" if namespace[:1] in ("", "-") else namespace
    return f"fairway.config.{token(kind)}.{token(place)}.{token(name)}"


def configs(kind: str) -> str:
    """What a reader of all settings of a kind filters on."""
    return f"fairway.config.{token(kind)}.>"


def relief(verb: str) -> str:
    """What services tell each other of whom to evict. No tenant may read there."""
    return f"fairway.relief.{verb}"


def shown(tenant: str) -> str:
    """Where the status of the objects of a tenant's jobs in the members is told, for the hub."""
    return f"fairway.status.shown.{token(tenant)}"


def dead_letter(service: str) -> str:
    return f"fairway.dlq.{token(service)}"


def audited(service: str, user: str) -> str:
    """Where it is said what a user did, or was refused, at a door."""
    return f"fairway.audit.{token(service)}.{token(user)}"


def found(service: str) -> str:
    """Where a service stores what its decisions found, when that is too large to go along with their events."""
    return f"fairway.found.{token(service)}"


def view(part: str, service: str) -> str:
    """`part` is `whole` where all that a view holds is told, `more` for what follows."""
    return f"fairway.view.{part}.{token(service)}"


def resync(name: str) -> str:
    """Core NATS, not stored: asks the agent of a cluster for a full report."""
    return f"fairway.ask.report.{token(name)}"


@lru_cache(maxsize=4096)
def matches(pattern: str, subject: str) -> bool:
    """Whether a NATS subject pattern (`*` one token, `>` the rest) covers a subject."""
    wanted = pattern.split(".")
    given = subject.split(".")
    for index, token in enumerate(wanted):
        if token == ">":
            return len(given) > index
        if index >= len(given) or token not in ("*", given[index]):
            return False
    return len(wanted) == len(given)


class Stream(Struct, frozen=True):
    """`per_subject` keeps that many last messages of each subject (0: all); `max_age` is in seconds (0: for ever);
    beyond `max_bytes` (0: any number) the oldest go. A server sets those aside: one that has not so much gives `least`
    (0: then there is no such stream). Of one that is `kept` nobody deletes a message, whoever he is."""

    name: str
    subjects: tuple[str, ...]
    per_subject: int = 0
    max_age: int = 0
    duplicate_window: float = 120
    max_bytes: int = 0
    least: int = 0
    kept: bool = False


# JOBS has no age limit: it is the record from which everything else is rebuilt. FOUND has what placements found where
# that is large: it is kept as long, and no rebuild reads it.
# CLUSTERS forgets after ten minutes: an agent's next report says all that matters. Of what one cluster says so many
# words are kept: a member in pull mode fills no disk, and where one is missing the agent is asked for a full report.
# IN is the tenants' own: message ids that they choose meet no service's there. One tenant's meet another's, and a
# server cannot be told to know none again: so for as short a time as it can, and a repeat is known by what is in it.
# What was let in is in the record, so IN forgets after a day, and the oldest first: who floods it pushes out words of
# tenants, never the record; of what is said on one subject so many words are kept, so that those are first its own.
# STATUS is for the hub's objects while their attempts live; a status that is an end is in the record. It forgets after
# a day: whoever was away longer shows what comes next.
# AUDIT forgets after thirteen months. Of one user so many words are kept: nobody pushes out what others did.
# RELIEF is what evictions were chosen from, for who replays one a week later: what came of them is in the record. What
# is lost there is asked anew when its claim has expired.
# VIEWS is for who replays a decision a week later; its limits are settings (docs/operations.md).
_REPORTS = 1 << 10
_WORDS = 1 << 14
_DEEDS = 1 << 16
RECORD = (
    Stream(JOBS, ("fairway.job.>",)),
    Stream(FOUND, ("fairway.found.>",)),
    Stream(CLUSTERS, ("fairway.cluster.>",), _REPORTS, 600, duplicate_window=30),
    Stream(CONFIG, ("fairway.config.>",), per_subject=1),
    Stream(IN, ("fairway.in.>",), _WORDS, 86_400, duplicate_window=0.1, max_bytes=1 << 28, least=1 << 22),
    Stream(STATUS, ("fairway.status.>",), max_age=86_400, max_bytes=1 << 29, least=1 << 24),
    Stream(DLQ, ("fairway.dlq.>",), max_age=14 * 86_400, max_bytes=1 << 30, least=1 << 24),
    Stream(AUDIT, ("fairway.audit.>",), _DEEDS, 400 * 86_400, max_bytes=1 << 29, least=1 << 24, kept=True),
    Stream(RELIEF, ("fairway.relief.>",), max_age=7 * 86_400, max_bytes=1 << 26, least=1 << 22),
)
VIEWS_STREAM = Stream(VIEWS, ("fairway.view.>",), max_age=7 * 86_400, max_bytes=1 << 30)
STREAMS = (*RECORD, VIEWS_STREAM)


class FlowRow(Struct, frozen=True):
    """A message: its subject with what varies in braces, the services that say it, those that follow it (they hear it
    while they run, and nothing is kept for them), and what it means. `message` is its Struct: None where the subject
    says it all, or where it is no JSON."""

    name: str
    message: type[Struct] | None
    subject: str
    says: tuple[str, ...]
    meaning: str
    follows: tuple[str, ...] = ()

    @property
    def stream(self) -> str:
        """Empty: it is stored nowhere."""
        return next((s.name for s in STREAMS for mask in s.subjects if self.subject.startswith(mask[:-1])), "")

    @property
    def filter(self) -> str:
        """What a consumer of this message filters on."""
        head, _, varies = self.subject.partition("{")
        return f"{head}>" if varies.endswith("}") else re.sub(r"\{\w+\}", "*", self.subject)


class FlowConsumer(Struct, frozen=True):
    """A durable consumer: all processes of `service` share it under its name, and it hears these messages."""

    name: str
    service: str
    hears: tuple[type[Struct], ...]
