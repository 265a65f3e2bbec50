"""Candidates one by one, and as the wire has them: in columns."""

from collections.abc import Sequence

from msgspec import Struct

from fairway.wire.preemption.evictions import Candidates, Relieve


class CandidateRow(Struct, frozen=True):
    """An attempt that may be evicted. `charge` is what it has of quota; either all have one or none."""

    job: str
    cluster: str
    attempt: int = 1
    level: int = 0
    priority: int = 0
    lender: int = -1
    lost: int = 0
    path: int = 0
    charge: dict[str, int] = {}

    @property
    def key(self) -> str:
        return f"{self.job}/{self.attempt}"


def in_columns(rows: Sequence[CandidateRow]) -> Candidates:
    clusters = sorted({one.cluster for one in rows})
    charged = sorted({name for one in rows for name in one.charge})
    return Candidates(
        attempts=tuple([one.key for one in rows]),
        clusters=tuple(clusters),
        cluster=tuple([clusters.index(one.cluster) for one in rows]),
        level=tuple([one.level for one in rows]),
        priority=tuple([one.priority for one in rows]),
        lender=tuple([one.lender for one in rows]),
        lost=tuple([one.lost for one in rows]),
        path=tuple([one.path for one in rows]) if charged else (),
        charge={name: tuple([one.charge.get(name, 0) for one in rows]) for name in charged},
    )


def in_rows(asked: Relieve) -> list[CandidateRow]:
    """In their order."""
    found = asked.candidates
    rows = []
    for at, key in enumerate(found.attempts):
        job, _, attempt = key.rpartition("/")
        rank = (found.level[at], found.priority[at], found.lender[at], found.lost[at])
        charge = {name: amounts[at] for name, amounts in found.charge.items()}
        path = found.path[at] if found.path else -1
        rows.append(CandidateRow(job, found.cluster_of(at), int(attempt), *rank, path, charge))
    return rows
