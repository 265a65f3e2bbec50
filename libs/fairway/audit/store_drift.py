"""Where the rows of a store are not what the record makes of them, key by key. Pure.

Compared is what a rebuild makes: jobs, who is live, taken names, client ids, records of placements, the reservation
ledger and the use of quota. What comes from agents, and what is on its way, is in the store alone.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.domain.quota.charge import Share
from fairway.runtime.record.folding import Working, working_set

_TABLES = frozenset({decision.JOBS, decision.LIVE, decision.PLACED, decision.NAMES, decision.CLIENTS})
_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode
# A row: its revision and its JSON. By table and key.
Value = tuple[int, bytes]
Key = tuple[str, str]
K = TypeVar("K")


class Drift(Struct, frozen=True):
    """One key that differs. `record` and `store` are the revisions there, None where it is missing; `fields` has what
    differs of a row that both have: in the record, in the store. A counter has one field, without a name."""

    table: str
    key: str
    record: int | None
    store: int | None
    fields: dict[str, tuple[Any, Any]] = {}


def compared(table: str) -> bool:
    return table in _TABLES or table.startswith("ledger/")


def flat(working: Working) -> dict[Key, Value]:
    """Its rows, as far as they are compared."""
    return {
        (table, key): value for table, rows in working.rows.items() if compared(table) for key, value in rows.items()
    }


def state_hash(rows: Mapping[Key, Value], quota: Mapping[str, int]) -> str:
    """The same for the same rows and the same use of quota, in whatever order they were made."""
    digest = sha256()
    for (table, key), (rev, data) in sorted(rows.items()):
        digest.update(b"%b\x1f%b\x1f%d\x1f%b\x1e" % (table.encode(), key.encode(), rev, data))
    digest.update(msgspec.json.encode(sorted(used(quota).items())))
    return digest.hexdigest()[:16]


def used(counters: Mapping[str, int]) -> dict[str, int]:
    """Without what was given back: a counter at 0 is as good as none."""
    return {key: amount for key, amount in counters.items() if amount}


def unlike(made: Mapping[K, object], there: Mapping[K, object]) -> set[K]:
    return {key for key in made.keys() | there.keys() if made.get(key) != there.get(key)}


def jobs_of(keys: Iterable[Key], *sides: Mapping[Key, Value]) -> set[str]:
    """The jobs whose rows these are, by any side: a name may have gone from one job to another."""
    return {_owner(key, side[key][1]) for key in keys for side in sides if key in side}


def _owner(key: Key, data: bytes) -> str:
    match key[0]:
        case decision.NAMES:
            return msgspec.json.decode(data, type=str)
        case decision.CLIENTS:
            return msgspec.json.decode(data, type=tuple[str, str])[0]
    return key[1].partition("/")[0]


def drift(key: Key, made: Value | None, there: Value | None) -> Drift:
    fields = differing(*(msgspec.json.decode(one[1]) for one in (made, there))) if made and there else {}
    return Drift(*key, made[0] if made else None, there[0] if there else None, fields)


def differing(made: Any, there: Any) -> dict[str, tuple[Any, Any]]:
    if not isinstance(made, dict) or not isinstance(there, dict):
        return {} if made == there else {"": (made, there)}
    return {name: (made.get(name), there.get(name)) for name in sorted(unlike(made, there))}


def quota_drift(rows: Iterable[bytes], owed: Iterable[bytes], counters: Mapping[str, int]) -> list[Drift]:
    """The counters that are not the sum of what these jobs are charged and what is owed; all of one moment."""
    working = working_set({job.id: job for job in map(_job, rows)})
    for share in map(_share, owed):
        working.charge(share)
    made = used(working.quota)
    there = used(counters)
    return [
        Drift(decision.QUOTA, key, None, None, {"": (made.get(key, 0), there.get(key, 0))})
        for key in sorted(unlike(made, there))
    ]
