"""The choice of a cluster for a gang: every cluster's verdict, the scores, the winner and its plan.

Cheap by memory, not by shortcuts: every cluster is asked, and answers from what it judged since its last
change.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fairway.placement.cluster import ClusterView
from fairway.placement.filters import Context, Query, Verdict, judge, passing
from fairway.placement.fit import Plan, place
from fairway.placement.scores import Score
from fairway.placement.shapes import ask, words
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

_UNSELECTED = (Code.NOT_SELECTED, Code.LABELS_DIFFER)


class Choice(Struct, frozen=True, omit_defaults=True):
    """The decision with everything it rests on.

    `cluster` and `plan` are empty when no cluster takes the gang. `affinity` is the name of the ordered
    affinity that decided. `verdicts` has every cluster, by name. `epoch` and `sequence` are those of the
    report of the chosen cluster that was seen. `asks` is the gang in words.
    """

    cluster: str
    plan: Plan | None
    verdicts: tuple[Verdict, ...]
    needed: int
    asks: str
    affinity: str = ""
    epoch: str = ""
    sequence: int = 0

    @property
    def scores(self) -> dict[str, Score]:
        """The scores of every cluster where the gang fits."""
        return {one.cluster: one.score for one in self.verdicts if one.score is not None}


def choose(clusters: Mapping[str, ClusterView], workload: Workload, placement: Placement, context: Context) -> Choice:
    """The best cluster of the first affinity that has one; ties go to the first name."""
    asked = ask(workload)
    kind = f"{workload.kind}.{workload.api_version}"
    views = _by_name(clusters)
    verdicts: list[Verdict] = []
    affinity = Affinity()
    for affinity in placement.affinities or (Affinity(),):
        query = Query(asked.demand, kind, affinity, placement.tolerations, context.weights)
        found = [view.memo.get(query) or judge(view, query) for view in views]
        _set_aside(found, views, context)
        verdicts = _merge(verdicts, found)
        winner = _best(found)
        if winner is None:
            continue
        view = clusters[winner.cluster]
        plan = place(view, asked)
        if isinstance(plan, Plan):
            return Choice(
                winner.cluster,
                plan,
                tuple(verdicts),
                asked.demand.needed,
                words(asked.demand),
                affinity.name,
                view.info.epoch,
                view.info.sequence,
            )
    return Choice("", None, tuple(verdicts), asked.demand.needed, words(asked.demand), affinity.name)


def _by_name(clusters: Mapping[str, ClusterView]) -> list[ClusterView]:
    return [clusters[name] for name in sorted(clusters)]


def _set_aside(found: list[Verdict], views: Sequence[ClusterView], context: Context) -> None:
    """Replace the verdict of every cluster that is unknown, stale or to be avoided at this moment."""
    oldest = max(context.now - context.stale_after, 1)
    avoid = context.avoid
    for index, view in enumerate(views):
        if view.observed_at < oldest or (avoid and view.name in avoid):
            found[index] = passing(view, found[index], context) or found[index]


def _best(found: Sequence[Verdict]) -> Verdict | None:
    best, top = None, -1
    for one in found:
        grade = one.score
        if grade is not None and grade.total > top:
            best, top = one, grade.total
    return best


def _merge(before: Sequence[Verdict], found: list[Verdict]) -> list[Verdict]:
    """Over ordered affinities: a cluster keeps what it said when it was selected, and the latest of that."""
    if not before:
        return found
    return [
        old if new.code in _UNSELECTED and old.code not in _UNSELECTED else new
        for old, new in zip(before, found, strict=True)
    ]
