"""Users of Valkey, each with the commands that it needs on the keys of the fleet, as a file of users has them."""

from collections.abc import Mapping
from hashlib import sha256

from fairway.wire.subjects import GATEWAY, LOOPS, OPERATOR

PREFIX = "{fairway}"
# Who asks whether the server is there, with any password.
HEALTH = "health"
CREDENTIALS = (*LOOPS, GATEWAY, OPERATOR)
# What a client says of itself and asks of the server, the brackets of a read, and the scripts, whose commands are asked
# for one by one.
_CONNECT = (
    "auth",
    "hello",
    "ping",
    "select",
    "client|setinfo",
    "client|setname",
    "evalsha",
    "script|load",
    "info",
    "multi",
    "exec",
)
_READS = (
    *("get", "hget", "hmget", "hgetall", "hlen", "hscan", "zcard", "zrangebyscore", "zrangebylex"),
    "scan",  # it names all keys of the server, and shows none of them
)
_WRITES = (
    *("set", "incr", "del", "unlink", "pexpire", "hset", "hdel", "hincrby", "zadd", "zrem"),
    "zpopmin",
)


def commands(credential: str) -> tuple[str, ...]:
    """The door reads; an operator may have the working set made anew (`fairway rebuild`), and the file of users read;
    services write."""
    more = {GATEWAY: (), OPERATOR: ("del", "acl|load")}.get(credential, _WRITES)
    return (*_CONNECT, *_READS, *more)


def users_acl() -> str:
    """The text of deploy/valkey/users.acl, in which nothing can be explained: in the place of each `$..._SHA256` stands
    the hash of that user's password."""
    return users({one: f"${one.upper().replace('-', '_')}_SHA256" for one in CREDENTIALS})


def hashed(password: str) -> str:
    return sha256(password.encode()).hexdigest()


def users(hashes: Mapping[str, str], processes: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """A line for each user, by the hash of its password; nobody else is let in. `processes` are users that stand for
    several credentials, by name."""
    lines = ["user default off resetkeys resetchannels -@all", f"user {HEALTH} on nopass resetkeys -@all +ping +info"]
    for name, word in hashes.items():
        of = [one for one in (processes or {}).get(name, (name,)) if one in CREDENTIALS]
        may = " ".join(f"+{one}" for one in dict.fromkeys(each for one in of for each in commands(one)))
        lines.append(f"user {name} on #{word} resetkeys ~{PREFIX}:* resetchannels -@all {may}".rstrip())
    return "\n".join(lines) + "\n"
