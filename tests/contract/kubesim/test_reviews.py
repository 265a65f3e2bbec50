"""A simulated cluster with identities answers reviews as a real API server: whose a token is, and who may do what."""

import pytest

from fairway.lab.kubesim import KubeSim
from fairway.lab.kubesim.http.identities import AUDIENCE, MASTERS
from tests.support.access_reviews import ACCESS, TOKENS, asking, review, send
from tests.support.kubesim import TORCH, FixedClock, Json


@pytest.mark.parametrize(
    ("token", "audiences", "user"),
    [
        pytest.param("token-of-team-a", None, "team-a", id="a token of the file"),
        pytest.param("token-of-team-a", ["fairway", AUDIENCE], "team-a", id="for the server and another audience"),
        pytest.param("token-of-team-a", ["fairway"], None, id="for another audience alone"),
        pytest.param("guessed", None, None, id="a token of nobody"),
        pytest.param("", None, None, id="no token"),
    ],
)
async def test_whose_a_token_is(token: str, audiences: list[str] | None, user: str | None) -> None:
    async with asking() as (_, url):
        spec = {"token": token, **({"audiences": audiences} if audiences else {})}
        code, said = await review(url, f"{TOKENS}/tokenreviews", spec)
        assert (code, said["kind"], said["apiVersion"]) == (201, "TokenReview", "authentication.k8s.io/v1")
        if user:
            about = {"username": "team-a", "uid": "2", "groups": ["tenants", "system:authenticated"]}
            assert said["status"] == {"authenticated": True, "user": about, "audiences": [AUDIENCE]}
        else:
            assert "authenticated" not in said["status"] and said["status"]["error"]


_JOBS = {"group": "kubeflow.org", "resource": "pytorchjobs", "namespace": "team-a"}


@pytest.mark.parametrize(
    ("who", "what", "want"),
    [
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create"}, True, id="its own"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create", "namespace": "b"}, False, id="another's"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "create", "namespace": ""}, False, id="everybody's"),
        pytest.param({"user": "team-a"}, {**_JOBS, "verb": "get", "subresource": "status"}, False, id="a subresource"),
        pytest.param(
            {"user": "team-a"},
            {"verb": "list", "group": "fairway.io", "resource": "queues"},
            True,
            id="what no server serves",
        ),
        pytest.param({"user": "admin", "groups": [MASTERS]}, {**_JOBS, "verb": "create"}, True, id="an administrator"),
        pytest.param({"user": "x", "groups": ["tenants"]}, {**_JOBS, "verb": "create"}, False, id="its groups alone"),
        pytest.param(
            {"user": "admin"}, {**_JOBS, "verb": "create"}, False, id="an administrator whose groups were not said"
        ),
    ],
)
async def test_whether_somebody_may(who: Json, what: Json, want: bool) -> None:
    async with asking() as (_, url):
        code, said = await review(url, f"{ACCESS}/subjectaccessreviews", {**who, "resourceAttributes": what})
        assert (code, said["kind"], said["status"]["allowed"]) == (201, "SubjectAccessReview", want)
        assert bool(said["status"].get("reason")) is want


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"user": "a"}, id="nothing is asked"),
        pytest.param({"resourceAttributes": {"verb": "get"}}, id="of nobody"),
        pytest.param(
            {"user": "a", "resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}},
            id="two things at once",
        ),
    ],
)
async def test_half_a_question_is_refused(spec: Json) -> None:
    async with asking() as (_, url):
        code, said = await review(url, f"{ACCESS}/subjectaccessreviews", spec)
        assert (code, said["reason"]) == (422, "Invalid")


async def test_anybody_may_ask_about_themselves() -> None:
    async with asking() as (_, url):
        me = "Bearer token-of-team-a"
        _, mine = await review(
            url, f"{ACCESS}/selfsubjectaccessreviews", {"resourceAttributes": {**_JOBS, "verb": "get"}}, me
        )
        _, who = await review(url, f"{TOKENS}/selfsubjectreviews", {}, me)
        assert mine["status"]["allowed"] is True
        assert who["status"]["userInfo"]["username"] == "team-a"


async def test_without_identities_nobody_is_asked() -> None:
    sim = KubeSim(FixedClock())
    url = await sim.start_cluster("hub", controllers=False)
    try:
        assert (await send(url, "", "GET", TORCH))[0] == 200
        code, said = await review(url, f"{ACCESS}/selfsubjectaccessreviews", {"resourceAttributes": {}}, "")
        assert (code, said["status"]) == (201, {"allowed": True})
        assert (await review(url, f"{TOKENS}/tokenreviews", {"token": "any"}, ""))[0] == 404
        assert sim.kubeconfig("hub")["users"][0]["user"] == {}
    finally:
        await sim.stop()
