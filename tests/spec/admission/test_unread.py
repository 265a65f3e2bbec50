"""admission: what is refused before it is read as a job is told of under the name that it has on the hub."""

from typing import Any

import pytest

from fairway.admission.decide import decide
from fairway.domain.names import job_id
from fairway.domain.submission import BUS, HUB
from fairway.wire.reasons import Code
from fairway.workloads.reading.parse import DEEPEST, LARGEST_TEXT
from tests.spec.admission.test_decide import manifest, submitted, view
from tests.spec.builders.views import events

NOW = 1_700_000_000_000


def deep() -> dict[str, Any]:
    inside: dict[str, Any] = {}
    for _ in range(DEEPEST):
        inside = {"a": inside}
    return {**manifest(), "arguments": inside}


def large() -> dict[str, Any]:
    return manifest(annotations={"data": "x" * LARGEST_TEXT})


CASES = {"too deep": (deep, Code.INVALID), "too large": (large, Code.TOO_LARGE)}


@pytest.mark.parametrize(("made", "code"), CASES.values(), ids=list(CASES))
def test_an_object_of_the_hub_that_is_refused_unread_has_its_name_and_the_id_that_the_hub_gave(
    made: Any, code: Code
) -> None:
    heard = submitted(made(), source=HUB, job=job_id("team-a", "c1", "train"))
    (said,) = events(decide(view(heard), heard, NOW))
    assert (said.verb, said.reasons[0].code, said.job) == ("rejected", code, heard.message.job)
    assert (said.kind, said.name, said.api_version) == ("Job", "train", "batch/v1")


def test_what_somebody_wrote_on_the_bus_is_not_looked_into_when_it_is_too_large() -> None:
    heard = submitted(large(), source=BUS)
    (said,) = events(decide(view(heard), heard, NOW))
    assert (said.reasons[0].code, said.name) == (Code.TOO_LARGE, "")
