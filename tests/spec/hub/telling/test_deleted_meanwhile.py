"""An object that is deleted while its binding is on its way to the hub."""

import pytest

from fairway.domain.decision import Call, Outcome
from fairway.hub.calls import BIND
from fairway.hub.telling.bindings import KIND as BINDING
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import unreachable
from tests.spec.hub.intake.test_what_holds import TRAIN


@pytest.mark.parametrize("answers", [True, False], ids=["", "and the hub does not answer"])
def test_a_binding_that_is_made_when_its_object_is_deleted_already_is_removed(answers: bool) -> None:
    one = HubDriver()

    def late(call: Call) -> Outcome:
        one.delete(TRAIN)
        del one.hub.refuses[BIND]
        made = one.hub(call)
        return made if answers else unreachable(call)

    one.hub.refuses[BIND] = late
    one.apply(TRAIN)
    one.run(10_000)
    assert BIND not in one.hub.refuses
    assert [key for key in one.hub.objects if key[0] == BINDING] == []
