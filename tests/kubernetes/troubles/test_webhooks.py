"""A member whose admission webhook refuses a job, or does not answer: the first is said and the job goes elsewhere; the
second is no fault of the job, and costs it nothing but time."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes.support.fleet import namespace, until
from tests.kubernetes.support.tries import policy
from tests.kubernetes.troubles.troubled import JOBS, POLICIES, Troubled, job, ours
from tests.kubernetes.troubles.webhook import Webhook


@pytest.fixture
def webhook(fleet: Troubled, tenant: str, tmp_path: Path) -> Iterator[Webhook]:
    """Of near, in force, and so far content with everything."""
    near = fleet.members["near"]
    made = Webhook(tmp_path, tenant)
    fleet.own.do(made.start())
    near.create("v1/namespaces", namespace(tenant))
    made.register(near)

    def in_force() -> bool:
        near.http.post(f"/apis/{JOBS.format(tenant)}?dryRun=All", json=job("probe"))
        return "probe" in made.asked

    until(in_force, "the webhook is asked")
    yield made
    made.unregister(near)
    fleet.own.do(made.stop())


def submit(fleet: Troubled, tenant: str, name: str, *first_then: str, attempts: int = 3) -> None:
    """To the first of these members, while it cannot to the next."""
    what = job(name, run_for="1s")
    what["metadata"]["namespace"] = tenant
    fleet.hub.create(POLICIES.format(tenant), policy(what, *first_then, attempts=attempts))
    fleet.hub.create(JOBS.format(tenant), ours(what))


def ended(fleet: Troubled, tenant: str, name: str) -> list[tuple[str, str, str]]:
    """Cluster, code and text of each attempt that is over."""
    found = fleet.job(tenant, name).get("attempts", ())
    return [(one["cluster"], one["why"]["code"], one["why"]["text"]) for one in found if one.get("why")]


def test_a_job_that_a_webhook_refuses_goes_elsewhere_and_its_message_is_kept(
    fleet: Troubled, tenant: str, webhook: Webhook
) -> None:
    webhook.refusal = "images of this registry are not allowed here"
    submit(fleet, tenant, "refused", "near", "far")
    fleet.arrives(tenant, "refused", "far")
    ((cluster, code, text),) = ended(fleet, tenant, "refused")
    assert (cluster, code, webhook.asked.count("refused")) == ("near", "ApplyRefused", 1)
    assert webhook.refusal in text and webhook.name in text
    assert webhook.refusal in fleet.story(tenant, "refused")


def test_a_job_that_a_webhook_refuses_for_the_last_time_ends_with_its_message(
    fleet: Troubled, tenant: str, webhook: Webhook
) -> None:
    webhook.refusal = "images of this registry are not allowed here"
    submit(fleet, tenant, "unwanted", "near", attempts=1)
    until(lambda: fleet.job(tenant, "unwanted")["state"] == "failed", "no attempt is left")
    assert webhook.refusal in json.dumps(fleet.job(tenant, "unwanted", "why"))


def test_a_webhook_that_is_dead_costs_a_job_no_attempt_and_it_starts_when_the_webhook_is_back(
    fleet: Troubled, tenant: str, webhook: Webhook
) -> None:
    fleet.own.do(webhook.stop())
    submit(fleet, tenant, "patient", "near", attempts=1)
    tried = until(lambda: ended(fleet, tenant, "patient")[2:], "it was tried more often than it may fail")
    fleet.own.do(webhook.start())
    fleet.ends(tenant, "patient")
    assert {code for _, code, _ in tried} == {"WebhookFailed"}
    assert all(f'failed calling webhook "{webhook.name}"' in text for _, _, text in tried)
    assert webhook.asked[-1] == "patient"


def test_a_job_whose_first_member_has_a_dead_webhook_goes_to_the_next(
    fleet: Troubled, tenant: str, webhook: Webhook
) -> None:
    fleet.own.do(webhook.stop())
    submit(fleet, tenant, "moved", "near", "far", attempts=1)
    fleet.arrives(tenant, "moved", "far")
    # Near may be asked again after two seconds, if it takes that long until nothing is left there.
    assert {(cluster, code) for cluster, code, _ in ended(fleet, tenant, "moved")} == {("near", "WebhookFailed")}
