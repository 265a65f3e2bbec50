"""What a job meets of many label selectors: those that ask for a label of its own, and each saying once."""

from typing import Any

from fairway.wire.policy import Policy, Selector
from fairway.wire.workload import Expression
from fairway.workloads.settings.label_index import LabelIndex


class Counted(dict[str, str]):
    """Labels that count how often a selector asks for one."""

    asked = 0

    def get(self, *which: Any) -> Any:
        self.asked += 1
        return super().get(*which)


def index(*selectors: tuple[Expression, ...]) -> LabelIndex:
    made = LabelIndex()
    for number, labels in enumerate(selectors):
        selector = Selector("batch/v1", "Job", labels=labels)
        policy = Policy("v1", "PropagationPolicy", "team-a", f"p{number}", (selector,))
        made.put(labels, ("PropagationPolicy", "team-a", policy.name), policy)
    return made


def unlike(number: int) -> tuple[Expression, ...]:
    return tuple(Expression(f"k{each}", "NotIn", (f"v{number}",)) for each in range(35))


def test_selectors_that_need_a_label_which_a_job_has_not_cost_it_nothing() -> None:
    """Fifteen thousand of them took 2.5 s a job, in the one thread that all tenants share."""
    labels = Counted(app="train")
    needs = (Expression("zz", "In", ("never",)), Expression("zz", "Exists"), Expression("app", "In", ("serve",)))
    made = index(*((*unlike(number), need) for number in range(100) for need in needs))
    assert (list(made.matching(labels)), labels.asked) == ([], 0)


def test_selectors_that_say_the_same_in_any_order_are_asked_once() -> None:
    labels = Counted(app="train", k0="v1")
    needs = (Expression("app", "In", ("train", "serve")), *unlike(1))
    made = index(*(needs if number % 2 else tuple(reversed(needs)) for number in range(500)))
    assert list(made.matching(labels)) == []
    assert 1 <= labels.asked <= len(needs)


def test_values_are_looked_up_and_not_walked() -> None:
    values = tuple(f"v{number}" for number in range(500))
    made = index((Expression("app", "In", values),), (Expression("app", "NotIn", values),))
    assert [len(list(made.matching({"app": value}))) for value in ("v0", "v499", "other")] == [1, 1, 1]
