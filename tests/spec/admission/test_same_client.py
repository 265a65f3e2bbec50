"""admission: a client that says something again, or something else."""

from typing import Any

from fairway.admission.decide import decide
from fairway.domain.decision import NOTHING, Heard
from fairway.domain.fold import born
from fairway.quota.decide import decide as quota
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.spec.admission.test_decide import ID, NOW, after, manifest, submitted, view
from tests.spec.builders.views import events, of, puts, told, tree, verbs


def test_the_same_client_saying_the_same_again_is_the_same_job() -> None:
    heard = submitted()
    first = decide(view(heard), heard, NOW)
    assert decide(view(heard, **after(first)), heard, NOW) == NOTHING


def test_the_same_client_saying_something_else_is_refused_and_its_job_stays() -> None:
    heard = submitted()
    other = submitted(manifest(labels={"a": "b"}))
    rows = after(decide(view(heard), heard, NOW))
    refused = decide(view(other, **rows), other, NOW)
    (said,) = events(refused)
    assert (said.verb, said.reasons[0].code, said.reasons[0].field) == ("rejected", Code.DUPLICATE, "client")
    assert said.job != ID
    rows["jobs"] |= puts(refused, "jobs")
    assert decide(view(other, **rows), other, NOW) == NOTHING


def test_a_refusal_delivered_again_is_not_a_second_refusal() -> None:
    heard = submitted({"kind": "Job"})
    first = decide(view(heard), heard, NOW)
    assert verbs(first) == ["rejected"]
    assert decide(view(heard, **after(first)), heard, NOW) == NOTHING


def test_a_corrected_manifest_under_a_refused_client_id_is_told_to_use_another() -> None:
    bad = submitted(manifest(labels={"-": "-"}))
    good = submitted()
    (said,) = events(decide(view(good, **after(decide(view(bad), bad, NOW))), good, NOW))
    assert (said.verb, said.reasons[0].remedy) == ("rejected", "use a new client id")


def refused_by_the_quota(hub: wire.HubRef | None) -> tuple[Heard, dict[str, Any]]:
    """What was submitted, and the rows once the quota had refused its job."""
    heard = submitted(hub=hub)
    (said,) = events(decide(view(heard), heard, NOW))
    rows = of(tree=tree(jobs=0))
    rows.jobs[ID] = born(said)
    rows.revs[ID] = 1
    out = quota(rows, told(said), NOW)
    assert verbs(out) == ["rejected"]
    return heard, {**after(out), "clients": {"team-a/c1": (ID, said.spec.manifest.sha256)} | puts(out, "clients")}


def test_an_object_of_the_hub_that_the_quota_refused_is_a_job_of_its_own_once_it_was_edited() -> None:
    """Who edits it cannot give it another client id."""
    hub = wire.HubRef("u-1", "jobs")
    heard, rows = refused_by_the_quota(hub)
    assert decide(view(heard, **rows), heard, NOW) == NOTHING, "it says the same again"
    edited = submitted(manifest(labels={"a": "b"}), hub=hub)
    decision = decide(view(edited, **rows), edited, NOW)
    (said,) = events(decision)
    assert (said.verb, said.job != ID) == ("admitted", True)
    assert puts(decision, "clients") == {"team-a/c1": (said.job, said.spec.manifest.sha256)}
    (guard,) = [write.expect for write in decision.steps[0].writes if write.table == "clients"]
    assert guard == 1, "in place of what was refused"


def test_whoever_can_take_another_client_id_has_to() -> None:
    _, rows = refused_by_the_quota(None)
    other = submitted(manifest(labels={"a": "b"}))
    (said,) = events(decide(view(other, **rows), other, NOW))
    assert (said.verb, said.reasons[0].remedy) == ("rejected", "use a new client id")
