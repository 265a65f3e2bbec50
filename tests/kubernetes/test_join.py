"""Real clusters join a fleet that is running, work with exactly the rights they gave, and leave it again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from join_house import House, house

from fairway.adapters.kubernetes import KubernetesCluster
from fairway.adapters.memory_clock import ManualClock
from fairway.adapters.system import SystemClock
from fairway.app.enrolment import Enrolment
from fairway.app.renewal import Renewal
from fairway.app.rights import at_home, rights
from fairway.app.settings import Settings
from fairway.wire.capacity import LEDGER


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as found:
        await found.run()
        yield found


async def test_a_cluster_joins_a_running_fleet_and_whole_lives_of_jobs_need_all_its_rights_and_no_others(
    home: House,
) -> None:
    assert await home.clusters() == {}
    home.api("hub").create(CLASSES, {"metadata": {"name": "urgent"}, "value": 77})
    await home.join("north", "--labels", "gpu=none", "--kinds", "Job.batch/v1", "--reserve", "ledger")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    row = (await home.clusters())["north"]
    assert (row["mode"], row["labels"]) == ("push", {"gpu": "none"})

    await home.submit("short", "1s", priority="urgent")
    assert (await home.state("short", "succeeded"))["cluster"] == "north"
    made = home.api("north").get(f"{CLASSES}/urgent") or {}
    assert (made["value"], made["preemptionPolicy"]) == (77, "Never")
    await home.submit("long", "1h")
    await home.state("long", "running")
    await home.fairway("cancel", "long")
    await home.state("long", "cancelled")
    await home.until(lambda: not home.api("north").get("batch/v1/namespaces/team-a/jobs/long"), "nothing is left")

    assert await _renewed(home) == ["north"]
    await home.submit("renewed", "1s")
    await home.state("renewed", "succeeded")

    asked = home.asked("north")
    refused = [(one["verb"], one["requestURI"]) for one in asked if one["responseStatus"]["code"] in (401, 403)]
    assert refused == []
    used = {_named(one["objectRef"], one["verb"]) for one in asked if "objectRef" in one}
    granted = _granted()
    assert (granted - used, used - granted) == (set(), set())

    allowed = [(method, path) for method, path, body in ELSE if home.as_fairway("north", method, path, body) != 403]
    assert allowed == []


def _granted() -> set[tuple[str, str, str]]:
    """Group, resource and verb; of other kinds of jobs, and of Koordinator, there are none in this cluster."""
    return {
        (right.group, resource, verb)
        for right in (*rights(LEDGER), *at_home(LEDGER))
        for resource in right.resources
        for verb in right.verbs
        if right.group in ("", "batch", "coordination.k8s.io", "scheduling.k8s.io")
    }


_BOSS = {
    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "boss"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "ServiceAccount", "name": "fairway-member", "namespace": "fairway-system"}],
}  # fmt: skip
CLASSES = "scheduling.k8s.io/v1/priorityclasses"
_ELEVEN_DAYS_MS = 11 * 86_400_000
_RULES = "/apis/rbac.authorization.k8s.io/v1"
# What somebody would try who has got hold of the token.
ELSE = (
    ("GET", "/api/v1/secrets", None),
    ("GET", "/api/v1/namespaces/kube-system/secrets", None),
    ("GET", "/api/v1/namespaces/fairway-system/secrets", None),
    ("GET", "/api/v1/configmaps", None),
    ("GET", "/api/v1/namespaces", None),
    ("POST", "/api/v1/namespaces/team-a/pods", {"metadata": {"name": "p"}, "spec": {"containers": []}}),
    ("GET", "/api/v1/namespaces/team-a/pods/p/exec?command=sh&stdout=1", None),
    ("GET", "/api/v1/namespaces/team-a/pods/p/log", None),
    ("DELETE", "/api/v1/namespaces/team-a/pods/p", None),
    ("DELETE", "/api/v1/namespaces/team-a", None),
    ("GET", "/api/v1/nodes/north-1/proxy/pods", None),
    ("PUT", "/api/v1/nodes/north-1", {"metadata": {"name": "north-1"}}),
    ("DELETE", "/api/v1/nodes/north-1", None),
    ("PUT", "/apis/batch/v1/namespaces/team-a/jobs/x", {"metadata": {"name": "x"}}),
    ("PUT", "/apis/batch/v1/namespaces/team-a/jobs/x/status", {"metadata": {"name": "x"}}),
    ("DELETE", "/apis/batch/v1/namespaces/team-a/jobs", None),
    ("POST", "/apis/apps/v1/namespaces/team-a/deployments", {"metadata": {"name": "d"}}),
    ("POST", f"{_RULES}/clusterrolebindings", _BOSS),
    ("POST", f"{_RULES}/clusterroles", {"metadata": {"name": "all"}, "rules": []}),
    ("GET", f"{_RULES}/clusterroles/fairway-member", None),
    ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", {"spec": {"expirationSeconds": 600}}),
    ("POST", "/api/v1/namespaces/fairway-system/serviceaccounts/default/token", {"spec": {"expirationSeconds": 600}}),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {"metadata": {"name": "c"}}),
    ("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"metadata": {"name": "w"}}),
)  # fmt: skip


async def test_a_member_goes_on_with_new_credentials_when_the_old_ones_end_and_nobody_starts_anything_anew(
    home: House,
) -> None:
    await home.join("north")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    await home.submit("before", "1h", "north")
    await home.state("before", "running")

    # The account is made anew: every token of the former one is worthless at once.
    home.api("north").delete("v1/namespaces/fairway-system/serviceaccounts/fairway-member")
    old = home.token("north")
    await home.until(lambda: home.as_fairway("north", "GET", "/api/v1/nodes") == 401, "the token is refused")
    await home.submit("after", "1s", "north")
    await home.join("north")
    assert home.token("north") != old
    assert (await home.state("after", "succeeded"))["cluster"] == "north"

    await home.renew_certificate("north")
    await home.submit("last", "1s", "north")
    await home.join("north")
    assert (await home.state("last", "succeeded"))["cluster"] == "north"
    assert (await home.jobs())["before"]["state"] == "running"
    assert (await home.jobs())["before"]["attempt"] == 1


async def test_a_cluster_with_jobs_does_not_leave_before_they_have_ended_or_moved(home: House) -> None:
    await home.join("north")
    await home.join("south")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    await home.until(lambda: _reported(home, "south"), "south has reported")
    await home.submit("here", "1h", "north", "south")
    first = (await home.state("here", "running"))["cluster"]
    other = {"north": "south", "south": "north"}[first]
    assert "team-a/here (running)" in await home.fairway("leave", first, code=4)
    assert (await home.clusters())[first]["cordoned"] is False

    admin = ("--kubeconfig", str(home.planes[first].kubeconfig), "--allow-loopback")
    said = await home.fairway("leave", first, "--drain", "--move", *admin)
    assert f"{first} has left the fleet" in said
    moved = (await home.jobs())["here"]
    assert (moved["cluster"], moved["attempt"]) == (other, 2)
    assert not home.api(first).items("batch/v1/namespaces/team-a/jobs")
    await home.until(lambda: _gone(home, first), f"{first} is forgotten")
    assert home.api(first).get("v1/namespaces/fairway-system/serviceaccounts/fairway-member") is None
    assert home.api(first).get("rbac.authorization.k8s.io/v1/clusterroles/fairway-member") is None
    assert "UnknownCluster" in await home.submit("nowhere", "1s", first, code=4)
    # It may come again.
    await home.join(first)
    await home.until(lambda: _reported(home, first), f"{first} has reported again")


async def test_a_member_in_pull_mode_is_reached_by_nobody_and_does_all_the_others_do(home: House) -> None:
    await home.join("north", "--mode", "pull", "--labels", "site=far")
    secret = home.api("hub").get("v1/namespaces/fairway-system/secrets/fairway-cluster-north")
    assert secret is not None and set(secret["data"]) == {"facts.json"}
    beside = await home.beside("north")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    row = (await home.clusters())["north"]
    assert (row["mode"], row["labels"]) == ("pull", {"site": "far"})
    await home.submit("short", "1s")
    assert (await home.state("short", "succeeded"))["cluster"] == "north"

    # What happens while that process is away is known when it is back.
    await home.submit("long", "1h")
    await home.state("long", "running")
    await beside.kill()
    home.api("north").delete("batch/v1/namespaces/team-a/jobs/long", propagationPolicy="Background")
    await home.submit("waits", "1s")
    await home.beside("north")
    assert (await home.state("waits", "succeeded"))["cluster"] == "north"
    vanished = await home.until(lambda: _again(home, "long"), "long is to be tried again")
    assert "an attempt failed there" in vanished["text"]
    await home.fairway("cancel", "long")
    await home.state("long", "cancelled")

    asked = home.asked("north")
    assert [one["requestURI"] for one in asked if one["responseStatus"]["code"] in (401, 403)] == []
    await home.fairway("leave", "north")
    await home.until(lambda: _gone(home, "north"), "north is forgotten")


async def _renewed(home: House) -> list[str]:
    """The clusters whose tokens a process renews eleven days later, each for another one."""
    hub = await KubernetesCluster.from_kubeconfig("hub", home.planes["hub"].kubeconfig)
    enrolment = Enrolment(Settings(allow_loopback=True))
    following = asyncio.create_task(enrolment.follow_hub(hub))
    await enrolment.known.wait()
    former = home.token("north")
    later = Renewal(enrolment, hub, ManualClock(SystemClock().now() + _ELEVEN_DAYS_MS), seed=1)
    assert await Renewal(enrolment, hub, SystemClock(), seed=1).look() == []
    found = await later.look()
    assert home.token("north") != former
    following.cancel()
    await asyncio.wait([following])
    await enrolment.close()
    await hub.close()
    return found


def _named(ref: dict[str, str], verb: str) -> tuple[str, str, str]:
    part = f"/{ref['subresource']}" if "subresource" in ref else ""
    return ref.get("apiGroup", ""), ref["resource"] + part, verb


async def _again(home: House, name: str) -> dict[str, Any] | None:
    row = (await home.jobs())[name]
    return row if (row["state"], row["attempt"], row["reason"]) == ("queued", 2, "WaitingForRoom") else None


async def _reported(home: House, name: str) -> bool:
    row = (await home.clusters()).get(name)
    return bool(row and row["age"] >= 0 and row["nodes"] and not row["stale"])


async def _gone(home: House, name: str) -> bool:
    return name not in await home.clusters()
