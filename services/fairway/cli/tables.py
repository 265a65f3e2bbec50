"""Lists of jobs, queues, quota and clusters as tables; `wide` adds columns."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from fairway.client.terminal import render_table
from fairway.domain.resources import describe, show
from fairway.explain.wording import span
from fairway.gateway.http.answers import ClusterRow, JobRow, QueueRow
from fairway.gateway.quota_rows import QuotaRow


def render_jobs(rows: Sequence[JobRow], now: int, wide: bool = False) -> Text:
    columns = ["NAMESPACE", "NAME", "KIND", "STATE", "CLUSTER", "QUEUE", "ATTEMPT", "AGE", "REASON"]
    lines: list[list[object]] = [
        [
            row.namespace,
            row.name or row.id,
            row.kind or "-",
            row.state,
            row.cluster or "-",
            row.queue or "-",
            f"{row.attempt}/{row.attempts}" if row.attempts else "-",
            span(now - row.submitted_at),
            row.reason or "-",
            *([row.id, row.priority, row.pods, span(now - row.since), row.text or "-"] if wide else ()),
        ]
        for row in rows
    ]
    columns += ["JOB", "PRIORITY", "PODS", "SINCE", "MESSAGE"] if wide else ()
    return render_table(columns, lines)


def render_queues(rows: Sequence[QueueRow], now: int) -> Text:
    columns = ["QUEUE", "PRIORITY", "POLICY", "WAITING", "STARTING", "RUNNING", "OLDEST", "WAITS"]
    return render_table(
        columns,
        [
            [
                row.name,
                row.priority,
                row.policy or "-",
                row.waiting,
                row.starting,
                row.running,
                row.first or "-",
                span(now - row.oldest) if row.oldest else "-",
            ]
            for row in rows
        ],
    )


def render_quota(rows: Sequence[QuotaRow]) -> Text:
    """One line for each resource of each node of the tree."""
    notes = any(row.not_backed for row in rows)
    lines: list[Sequence[object]] = []
    for row in rows:
        for name in sorted({*row.max, *row.min, *row.used}):
            limit = show(name, row.max[name]) if name in row.max else "no limit"
            amounts = (show(name, of.get(name, 0)) for of in (row.min, row.used, row.borrowed, row.lent))
            note = [_not_backed(row, name)] if notes else []
            lines.append((row.path, name, *amounts, limit, _share(row.share), *note))
    columns = ["QUOTA", "RESOURCE", "MIN", "USED", "BORROWED", "LENT", "MAX", "SHARE", *(["NOTE"] if notes else [])]
    return render_table(columns, lines)


def _share(millionths: int) -> str:
    return f"{millionths / 10_000:.1f} %" if millionths >= 0 else "no weight"


def _not_backed(row: QuotaRow, name: str) -> str:
    one = row.not_backed.get(name)
    if one is None:
        return "-"
    return f"MinNotBacked: the mins below add up to {show(name, one.min)}, the clusters have {show(name, one.fleet)}"


def render_clusters(rows: Sequence[ClusterRow], wide: bool = False) -> Text:
    columns = ["CLUSTER", "MODE", "KUBERNETES", "NODES", "REPORT", "FREE", "HELD BY FAIRWAY"]
    lines = [
        [
            row.name,
            row.mode or "-",
            row.kubernetes or "-",
            f"{row.schedulable}/{row.nodes}",
            _age(row),
            _main(row.free),
            _main(row.held),
            *(_wide(row) if wide else ()),
        ]
        for row in rows
    ]
    columns += ["ALLOCATABLE", "USED BY OTHERS", "LEFT ALONE", "LABELS"] if wide else ()
    return render_table(columns, lines)


def _wide(row: ClusterRow) -> list[str]:
    margin = describe(row.margin) if row.margin else "-"
    return [describe(row.allocatable), describe(row.used), margin, _labels(row.labels)]


def _age(row: ClusterRow) -> str:
    why = "" if row.age < 0 else "stale: no new work" if row.stale else "cordoned: no new work" if row.cordoned else ""
    frozen = "evictions frozen" if row.frozen else ""
    held = row.unconfirmed
    more = f"{held.code.value}: {held.text}, which is not counted; {held.remedy}" if held else ""
    said = "; ".join(filter(None, (why, frozen, more)))
    age = f"{span(row.age)} ago" if row.age >= 0 else "none yet"
    return f"{age} ({said})" if said else age


def _main(amounts: Mapping[str, int]) -> str:
    """Devices, cpu and memory: what people ask first."""
    names = {name for name in amounts if "/" in name} | {"cpu", "memory"}
    return describe({name: amounts[name] for name in names if name in amounts})


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "-"
