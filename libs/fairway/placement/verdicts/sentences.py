"""Verdicts and choices in words, built only when somebody asks."""

from collections.abc import Callable, Sequence

from fairway.domain.batch_resources import PART_OF
from fairway.domain.policy_terms import absent
from fairway.placement.choose import Choice
from fairway.placement.fit import Shortfall
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code, Reason

_SHORT = (Code.NOT_ENOUGH, Code.FRAGMENTED, Code.NEVER_FITS)
# It could be held there, if others held less.
_ROOM = (Code.FITS, Code.NOT_ENOUGH, Code.FRAGMENTED)
# These end without anything being freed or changed in a cluster: a report comes, time passes.
_PASSING = (Code.CAPACITY_UNKNOWN, Code.CAPACITY_STALE, Code.RECENTLY_FAILED)
_UNSELECTED = (Code.NOT_SELECTED, Code.LABELS_DIFFER)
# Clusters that a sentence names.
_NAMED = 5


_FREED = "it is tried again as soon as room is freed in one of these clusters"
_JOIN = "let such a cluster join, or name clusters of the fleet in the policy's clusterAffinity: it then goes by itself"
_EVER = "ask for less, widen the policy's clusterAffinity, or add a cluster that can hold it"

# What a cluster says that does not count pods.
_SAYS: dict[Code, Callable[[ClusterVerdict], str]] = {
    Code.NOT_SELECTED: lambda verdict: (
        "the policy's clusterAffinity excludes it by name"
        if verdict.about == "exclude"
        else "the policy's clusterAffinity does not name it in clusterNames"
    ),
    Code.LABELS_DIFFER: lambda verdict: f"the policy's clusterAffinity wants the cluster label {verdict.about}",
    Code.TAINTED: lambda verdict: f"its taint {verdict.about} is not tolerated by the policy",
    Code.CORDONED: lambda verdict: "it is cordoned: it is to leave the fleet and takes no new work",
    Code.KIND_NOT_SERVED: lambda verdict: f"it does not serve {verdict.about}",
    Code.CAPACITY_UNKNOWN: lambda verdict: "it has not reported its nodes yet",
    Code.CAPACITY_STALE: lambda verdict: (
        f"its last report is {seconds(verdict.age)} old; {seconds(verdict.limit)} is the limit"
    ),
    Code.RECENTLY_FAILED: lambda verdict: f"an attempt failed there; it is avoided for another {seconds(verdict.left)}",
}


def sentence(verdict: ClusterVerdict, asks: str = "") -> str:
    """What this cluster says; `asks` is the gang in words (`Choice.asks`)."""
    if (says := _SAYS.get(verdict.code)) is not None:
        return says(verdict)
    gang = asks or f"{verdict.needed} pods"
    if verdict.code is Code.FITS:
        grade = f", score {verdict.score.total}" if verdict.score else ""
        return f"fits: needs {gang}, node by node {verdict.by_node} fit{grade}"
    return _short(verdict, gang)


def what_would_help(choice: Choice, placement: Placement) -> Reason:
    """For a choice without a cluster: the binding cause, which is that of the cluster nearest to a yes; or that the
    policy names clusters that are not there, when none of those that are could ever take it."""
    table = choice.verdict_table
    absentees = absent(placement, table.names.rank)
    if not len(table):
        none = "no cluster has joined the fleet yet"
        return _unknown(absentees, f", and {none}") if absentees else Reason(Code.WAITING_FOR_ROOM, none, remedy=_FREED)
    nearest = table.at(table.nearest)
    says = f"nearest is {nearest.cluster}: {sentence(nearest, choice.asks)}"
    if nearest.code in (*_ROOM, *_PASSING) or nearest.about in PART_OF:  # of these there may be more in a minute
        beside = f"; the policy also names {_not_there(absentees)}" if absentees else ""
        text = f"none of {len(table)} clusters can take it now; {says}{beside}"
        return Reason(Code.WAITING_FOR_ROOM, text, remedy=_FREED)
    if absentees:
        others = f"; of the {len(table)} that are none could hold it even when empty; {says}"
        return _unknown(absentees, "" if table.codes(*_UNSELECTED).all() else others)
    text = f"none of {len(table)} clusters could hold it even when empty; {says}"
    return Reason(Code.NO_CLUSTER_EVER, text, remedy=_EVER)


def _unknown(absentees: Sequence[str], more: str) -> Reason:
    return Reason(Code.UNKNOWN_CLUSTER, f"the policy names {_not_there(absentees)}{more}", remedy=_JOIN)


def _not_there(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{shown}{more}, which {'is' if len(names) == 1 else 'are'} not in the fleet"


def seconds(milliseconds: int) -> str:
    """`42 s`, and `1.5 s` below ten."""
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 10_000 else f"{milliseconds // 1000} s"


def _short(verdict: ClusterVerdict, gang: str) -> str:
    if verdict.code not in _SHORT:
        return verdict.code.value
    numbers = verdict.needed, verdict.by_node, verdict.by_sum, verdict.at_most, verdict.nodes
    return Shortfall(verdict.code, *numbers, verdict.about, gang, verdict.closed).text
