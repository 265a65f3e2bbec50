"""Passwords of everybody who comes to NATS or Valkey, and the users that both servers then know.

Below one folder: `nats/services.conf` and `valkey/users.acl` for the servers, and for each process a folder that its
FAIRWAY_CREDENTIALS_DIR names, with a file `nats` and a file `valkey`, each `USER:PASSWORD`. Valkey is given the hash
of a password only. `processes.json` keeps which services share a process.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from fairway.adapters.logins import LoginFile
from fairway.adapters.rights import bus_rights
from fairway.adapters.rights import nats_users as nats
from fairway.adapters.rights import valkey_users as valkey
from fairway.runtime import private_files
from fairway.wire import subjects
from fairway.wire.subjects import KEEPER

_BYTES = 32
NATS = "nats"
VALKEY = "valkey"
_PROCESSES = "processes.json"
_ALL = tuple(one for one in bus_rights.SERVICES if one != KEEPER)
Processes = Mapping[str, tuple[str, ...]]


def write(folder: Path, processes: Processes, renew: Collection[str] = (), more: tuple[str, str] = ("", "")) -> None:
    """For each credential of the tables, and for each of `processes`: those that run several services, by name, beside
    those that were given before: they still run. What has a password keeps it, unless it is in `renew`. `more` are
    further users, as NATS and as Valkey has them. ValueError for a name that is none, or a file that cannot be read."""
    private_files.folder(folder)
    processes = {**_known(folder), **processes}
    names = {*bus_rights.CREDENTIALS, *processes}
    if unknown := sorted({*renew} - names):
        raise ValueError(f"there is no credential {', '.join(unknown)}; choose from {', '.join(sorted(names))}")
    private_files.write(folder / _PROCESSES, msgspec.json.format(msgspec.json.encode(processes)))
    passwords = {name: _password(folder / name, name, name in renew) for name in sorted(names)}
    with_valkey = {name: word for name, word in passwords.items() if _in_valkey(name, processes)}
    for name, word in passwords.items():
        own = private_files.folder(folder / name)
        private_files.write(own / NATS, f"{name}:{word}\n")
        if name in with_valkey:
            private_files.write(own / VALKEY, f"{name}:{word}\n")
    for server, text in (
        (f"{NATS}/services.conf", nats.users(passwords, processes, more[0])),
        (f"{VALKEY}/users.acl", valkey.users(_hashed(with_valkey), processes) + more[1]),
    ):
        private_files.folder((folder / server).parent)
        private_files.write(folder / server, text)


def _known(folder: Path) -> dict[str, tuple[str, ...]]:
    path = folder / _PROCESSES
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, ...]]) if path.exists() else {}
    except (msgspec.DecodeError, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}; remove it, and name each process with --process") from None


def read_processes(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of `NAME=SERVICE,SERVICE`; `all` are all but the keeper, which may delete in the record: where that runs, too, it
    is `NAME=all,keeper`. ValueError says what is wrong with one."""
    found = {}
    for one in given:
        name, _, services = one.partition("=")
        of = tuple(part.strip() for part in services.split(",") if part.strip())
        of = tuple(each for part in of for each in (_ALL if part == "all" else (part,)))
        if subjects.token(name) != name or name in (*bus_rights.CREDENTIALS, NATS, VALKEY):
            raise ValueError(
                f"{name!r} cannot be the name of a process; choose another one of letters, digits, - and _"
            )
        wrong = ", ".join(sorted({*of} - {*bus_rights.SERVICES}))
        if wrong or not of:
            what = f"names {wrong}, which is no service" if wrong else "names no service"
            raise ValueError(f"--process {one!r} {what}; choose from {', '.join(bus_rights.SERVICES)}")
        found[name] = of
    return found


def _in_valkey(name: str, processes: Processes) -> bool:
    return not {*valkey.CREDENTIALS}.isdisjoint(processes.get(name, (name,)))


def _hashed(passwords: Mapping[str, str]) -> dict[str, str]:
    return {name: valkey.hashed(word) for name, word in passwords.items()}


def _password(folder: Path, name: str, anew: bool) -> str:
    path = folder / NATS
    if not anew and path.exists():
        known = LoginFile(path).last
        if known.user != name:
            raise ValueError(f"{path} is of {known.user}, not of {name}; remove it, and it is made anew")
        return known.password
    return secrets.token_urlsafe(_BYTES)
