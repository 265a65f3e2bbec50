"""The choice of a cluster for a gang: every cluster's verdict, the scores, the winner and its plan.

Cheap by memory, not by shortcuts: every cluster is asked, all at once, on counts that are kept from one choice to
the next.
"""

from msgspec import Struct

from fairway.placement.fit import Plan, plan_in
from fairway.placement.fleet import Fleet
from fairway.placement.policy_rules import WantedClusters
from fairway.placement.shapes import Demand, ask, words
from fairway.placement.survey import survey
from fairway.placement.verdicts.table import VerdictTable
from fairway.placement.verdicts.verdict import ClusterVerdict, Context
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

_ANY = (Affinity(),)
_UNSELECTED = (Code.NOT_SELECTED, Code.LABELS_DIFFER)


class Choice(Struct, frozen=True):
    """The decision with everything it rests on.

    `cluster` and `plan` are empty when no cluster takes the gang. `affinity` is the name of the ordered
    affinity that decided. `verdict_table` has every cluster's verdict, by name.
    """

    cluster: str
    plan: Plan | None
    verdict_table: VerdictTable
    demand: Demand
    affinity: str = ""

    @property
    def verdicts(self) -> tuple[ClusterVerdict, ...]:
        return tuple(self.verdict_table)

    @property
    def asks(self) -> str:
        """The gang in words."""
        return words(self.demand)


def choose(fleet: Fleet, workload: Workload, placement: Placement, context: Context) -> Choice:
    """The best cluster of the first affinity that has one; ties go to the first name."""
    engine = fleet.engine()
    asked = ask(workload)
    kinds = workload.served_kinds
    verdict_table: VerdictTable | None = None
    name = ""
    for affinity in placement.affinities or _ANY:
        name = affinity.name
        found = survey(engine, asked.demand, WantedClusters(kinds, affinity, placement.tolerations), context)
        verdict_table = found if verdict_table is None else merged(verdict_table, found)
        best = found.best
        if best is None:
            continue
        plan = plan_in(engine, engine.clusters.order.item(best), asked, found)
        if plan is not None:
            return Choice(engine.clusters.names.names[best], plan, verdict_table, asked.demand, name)
    assert verdict_table is not None, "there is always an affinity"
    return Choice("", None, verdict_table, asked.demand, name)


def merged(before: VerdictTable, found: VerdictTable) -> VerdictTable:
    """Over ordered affinities: a cluster keeps what it said when it was selected, and the latest of that."""
    return found.after(before, found.codes(*_UNSELECTED) & ~before.codes(*_UNSELECTED))
