"""The capacity cache: reports in, holds laid over them, and a word when there is more room than before."""

from collections.abc import Iterable, Mapping, Set

import msgspec

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import SILENT_MS
from fairway.domain.decision import NOTHING, Add, Call, Decision, Heard, Put, Step
from fairway.domain.reservations import Hold, by_attempt
from fairway.reserver.batch_margin import followed, percent, with_margins
from fairway.reserver.freed_room import more_room, with_freed
from fairway.reserver.node_rows import Capacity, node_put, node_writes
from fairway.reserver.report_checks import believed, said, sound, to_confirm
from fairway.wire import fleet
from fairway.wire.capacity import ClusterInfo, Node

# Agents that could not be asked, because the bus was away, are asked again after this long.
_ASK_AGAIN_MS = 1_000
# A cluster heard of after this long may take jobs that were told its capacity is stale.
_SILENT_MS = 20_000


def release(view: Capacity, heard: Heard[object], cluster: str, key: str, now: int) -> Decision:
    """Drops an attempt's reservation. What its pods are still seen to take stays taken until they are gone."""
    if key not in view.ledger.get(cluster, {}):
        return NOTHING
    rev = view.row_revs.get((decision.ledger(cluster), key), 1)
    writes: list[Put | Add] = [Put(decision.ledger(cluster), key, None, expect=rev)]
    changed = view.node_writes(cluster, {key: None})
    nodes = view.clusters[cluster].nodes if cluster in view.clusters else {}
    more = more_room(nodes, [write.value for write in changed])
    step = Step((*writes, *changed))
    return Decision((with_freed(view, step, heard, cluster, now) if more else step,))


def ask_the_silent(view: Capacity, heard: Heard[object]) -> Decision:
    """At the beginning: whoever is a member, and has not reported to this working set."""
    if not heard.outcomes:
        silent = [name for name in sorted(view.members) if name not in view.clusters]
        return Decision(calls=tuple(Call("resync", name, "", 0) for name in silent))
    return NOTHING if all(one.ok for one in heard.outcomes) else Decision(again_in=_ASK_AGAIN_MS)


def take_report(view: Capacity, heard: Heard[object], told: fleet.Report, now: int) -> Decision:
    """Brings the cache up to a report. A gap, or another epoch without a full list, asks the agent for one. Beside a
    cluster that has left an agent may go on for a while (in pull mode nobody here can end it): it is not heard."""
    facts = view.facts.get(told.cluster)
    report = said(sound(told), facts)
    known = view.clusters.get(report.cluster)
    if report.cluster in view.left or (report.left and facts is None):
        return Decision((_forget(view, heard, report.cluster, now),)) if known else NOTHING
    if report.left:
        return NOTHING  # the hub has it still; when it has not, `forget_the_left` notices
    info = known.info if known else ClusterInfo(report.cluster)
    if info.epoch != report.epoch and _seen_at(heard, now) < info.observed_at:
        return NOTHING  # of an agent that was there before the present one
    if not report.full:
        if to_confirm(info, facts) and not heard.outcomes:
            return Decision(calls=(Call("resync", report.cluster, "", 0),))
        if info.epoch == report.epoch and report.sequence <= info.sequence:
            return NOTHING
        if info.epoch != report.epoch or report.sequence != info.sequence + 1:
            if heard.outcomes:
                return NOTHING
            return Decision(calls=(Call("resync", report.cluster, "", 0),))
    elif info.epoch == report.epoch and report.sequence <= info.sequence:
        return NOTHING
    return Decision((_report_step(view, heard, report, info, now),))


def _seen_at(heard: Heard[object], now: int) -> int:
    """A report that waited until it was read is no news. By the bus's clock, as an agent's may be wrong."""
    return min(now, heard.stored_at or now)


def _report_step(view: Capacity, heard: Heard[object], report: fleet.Report, info: ClusterInfo, now: int) -> Step:
    cluster = report.cluster
    before = dict(view.clusters[cluster].nodes) if cluster in view.clusters else {}
    report, size = believed(report, before, info, view.facts.get(cluster), now)
    falls = followed(size.falls, size.total, now)
    report = with_margins(report, percent(falls))
    ledger = view.ledger.get(cluster, {})
    after, rows = _merged(before, report, ledger)
    planned = _planned_on({node.name for node in rows if node.name not in before}, ledger)
    keys = _attempts(rows, before) | planned
    keys |= set(ledger) if report.full else set()
    changed = {
        write.key: write for write in node_writes(view, cluster, after, {key: ledger.get(key) for key in sorted(keys)})
    }
    for node in rows:
        changed.setdefault(node.name, node_put(view, cluster, after[node.name]))
    gone = [name for name in before if name not in after]
    table = decision.nodes(cluster)
    writes = [Put(table, name, None, expect=view.row_revs.get((table, name))) for name in gone]
    writes += _unchanged(view, cluster, planned)
    seen_at = _seen_at(heard, now)
    fresh = _cluster_info(report, msgspec.structs.replace(size, falls=falls), seen_at)
    rev = view.row_revs.get((decision.CLUSTERS, cluster), 0)
    step = Step((Put(decision.CLUSTERS, cluster, fresh, rev=rev + 1, expect=rev), *writes, *changed.values()))
    nodes = [write.value for write in changed.values()]
    facts = [(one.kinds, one.labels, one.taints, one.cordoned) for one in (info, fresh)]
    back = now - info.observed_at > _SILENT_MS and now - seen_at <= SILENT_MS
    news = back or facts[0] != facts[1] or more_room(before, nodes)
    return with_freed(view, step, heard, cluster, now) if news else step


def _cluster_info(report: fleet.Report, size: ClusterInfo, seen_at: int) -> ClusterInfo:
    """`size` has what is known of the cluster's size."""
    return msgspec.structs.replace(
        size,
        labels=report.labels,
        taints=report.taints,
        kinds=report.kinds,
        kubernetes=report.kubernetes,
        observed_at=seen_at,
        epoch=report.epoch,
        sequence=report.sequence,
        holds=report.holds,
        cordoned=report.cordoned,
        mode=report.mode,
    )


def forget_the_left(view: Capacity, heard: Heard[object], now: int) -> Decision:
    """Of the clusters that the hub no longer has, whether or not they have said so themselves."""
    return Decision(tuple(_forget(view, heard, name, now) for name in view.clusters if name in view.left))


def _forget(view: Capacity, heard: Heard[object], cluster: str, now: int) -> Step:
    """The room goes with the cluster; what the ledger says of attempts there ends with them. That there is none any
    more is told, too: whoever waits for it has to learn that it is not there."""
    table = decision.nodes(cluster)
    revs = view.row_revs
    gone = [Put(table, name, None, expect=revs.get((table, name))) for name in view.clusters[cluster].nodes]
    info = Put(decision.CLUSTERS, cluster, None, expect=revs.get((decision.CLUSTERS, cluster)))
    return with_freed(view, Step((*gone, info)), heard, cluster, now)


def _merged(
    before: Mapping[str, Node], report: fleet.Report, ledger: Mapping[str, Hold]
) -> tuple[dict[str, Node], list[Node]]:
    """The nodes after a report, with the holds they had; and those rows that the report changes."""
    after = {} if report.full else {name: node for name, node in before.items() if name not in report.gone}
    rows = []
    for node in report.nodes:
        old = before.get(node.name)
        attempts = by_attempt(node.attempts, ledger)
        merged = msgspec.structs.replace(node, holds=old.holds if old else {}, attempts=attempts)
        after[node.name] = merged
        if merged != old:
            rows.append(merged)
    return after, rows


def _attempts(rows: Iterable[Node], before: Mapping[str, Node]) -> set[str]:
    """Attempts whose pods these rows show, or showed before."""
    keys: set[str] = set()
    for node in rows:
        old = before.get(node.name)
        keys.update(node.attempts, old.attempts if old else ())
    return keys


def _unchanged(view: Capacity, cluster: str, keys: Iterable[str]) -> list[Put]:
    """Guards for rows that are made anew: whoever drops one of these reservations meanwhile has no row to take it off,
    and it would stay in the new one for ever."""
    table = decision.ledger(cluster)
    revs = {key: view.row_revs.get((table, key), 1) for key in sorted(keys)}
    return [Put(table, key, view.ledger[cluster][key], rev, expect=rev) for key, rev in revs.items()]


def _planned_on(names: Set[str], ledger: Mapping[str, Hold]) -> set[str]:
    """Attempts that are to be on these nodes, which have just (re)appeared."""
    return {key for key, hold in ledger.items() if names and any(slot.node in names for slot in hold.slots)}
