"""Which room is an attempt's when the store is filled again from the record."""

from fairway.domain import decision
from fairway.runtime.record.folding import working_set
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import Life, running

WHY = Reason(Code.VANISHED, "the object was deleted in c1")


def room(life: Life) -> list[tuple[str, str]]:
    rows = working_set({life.name: life.now}).rows
    return [(table, key) for table, held in rows.items() if table.startswith(decision.ledger("")) for key in held]


def over() -> Life:
    """Its first attempt is over, and the next one waits."""
    life = running("c1").then(wire.Lost, cluster="c1", why=WHY).then(wire.Recall, cluster="c1", why=WHY)
    return life.then(wire.Queue, attempt=2, queue="gold", why=WHY)


def test_it_is_held_while_it_runs_and_until_nothing_of_it_is_left() -> None:
    held = [("ledger/c1", "llm-1/1")]
    assert room(running("c1")) == held
    assert room(over()) == held
    assert room(over().then(wire.Removed, cluster="c1", attempt=1)) == []


def test_a_stray_of_it_in_another_cluster_holds_none() -> None:
    """Nobody would ever give it back: what is removed there is not what was reserved here."""
    life = over().then(wire.Removed, cluster="c1", attempt=1)
    assert room(life.then(wire.Recall, cluster="c3", attempt=1, why=WHY)) == []
