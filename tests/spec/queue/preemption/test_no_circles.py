"""A decision is freed when it is over. One that refers to itself stays, with all the rows and messages that it made,
until the collector finds it: that was a twelfth of the pipeline's processor time."""

import gc
from typing import Any

import pytest

from fairway.queue.decide import decide
from tests.spec.builders.lives import S
from tests.spec.builders.views import of, told
from tests.spec.builders.waiting import waiting
from tests.spec.queue.preemption.test_claims import MINE, NOW, TICK, lent, running, tree, used

NEW = waiting("new", 10, leaf=MINE)
HEARD: dict[str, Any] = {"a job that goes": told(NEW.said[-1][1]), "the time of those that wait": TICK}


@pytest.mark.parametrize("heard", HEARD.values(), ids=list(HEARD))
def test_a_decision_leaves_nothing_to_the_collector(heard: Any) -> None:
    lives = [*lent(), running("a1", 1, leaf=MINE)]
    view = of(*lives, NEW, usage=used(*lives), tree=tree())
    decide(view, heard, NOW + 60 * S)  # what is remembered of trees and jobs is made once
    gc.collect()
    gc.disable()
    try:
        decide(view, heard, NOW + 60 * S)
        assert gc.collect() == 0
    finally:
        gc.enable()
