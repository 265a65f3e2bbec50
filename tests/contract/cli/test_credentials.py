"""Which credential a command sends, where it goes, and where it never does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairway.client.credential import FOLDER, HUB, SAID, Credential, GatewayPlace, check_way, origin
from fairway.client.failure import DENIED, Failure
from tests.support.credential_door import TOKEN, Door, fleet, opened, process, run, token_file


@pytest.fixture
def door() -> Iterator[Door]:
    with opened() as found:
        yield found


@pytest.fixture
def other() -> Iterator[Door]:
    with opened() as found:
        yield found


def test_the_key_of_the_folders_fleet_goes_to_its_address_and_to_no_other(
    door: Door, other: Door, tmp_path: Path
) -> None:
    fleet(tmp_path, door)
    assert process(tmp_path, "get", "jobs")[0] == 0
    assert run(tmp_path, "get", "jobs", "--url", door.url + "/")[0] == 0
    assert run(tmp_path, "get", "jobs", "--url", other.url)[0] == 0
    assert run(tmp_path, "get", "jobs", FAIRWAY_URL=other.url)[0] == 0
    assert door.heard == [f"Bearer {TOKEN}"] * 2
    assert other.heard == [None] * 2


def test_a_folder_that_others_can_write_in_sends_nobody_anywhere(door: Door, tmp_path: Path) -> None:
    fleet(tmp_path, door, mode=0o666)
    code, said = run(tmp_path, "get", "jobs")
    assert (code, "can be written by others" in said, door.heard) == (4, True, [])


def test_a_token_file_goes_where_the_user_said_and_not_where_a_folder_says(
    door: Door, other: Door, tmp_path: Path
) -> None:
    fleet(tmp_path, door, token="of-the-fleet")
    mine = token_file(tmp_path)
    assert run(tmp_path, "get", "jobs", "--url", other.url, "--token-file", mine)[0] == 0
    assert run(tmp_path, "get", "jobs", "--url", other.url, FAIRWAY_TOKEN_FILE=mine)[0] == 0
    assert run(tmp_path, "get", "jobs", FAIRWAY_URL=other.url, FAIRWAY_TOKEN_FILE=mine)[0] == 0
    assert other.heard == [f"Bearer {TOKEN}"] * 3
    assert run(tmp_path, "get", "jobs", FAIRWAY_TOKEN_FILE=mine)[0] == 0
    assert door.heard == ["Bearer of-the-fleet"]


@pytest.mark.parametrize("text", ["", "two words", "a\nb", "ü", "a" * 20_000])
def test_a_token_file_holds_one_token(text: str, door: Door, tmp_path: Path) -> None:
    code, said = run(tmp_path, "get", "jobs", "--url", door.url, "--token-file", token_file(tmp_path, text))
    assert (code, door.heard) == (2, []), said
    assert "kubectl create token" in said


def test_a_redirect_is_not_followed(door: Door, other: Door, tmp_path: Path) -> None:
    door.answers.append((302, {}, {"Location": f"{other.url}/v1/jobs"}))
    code, said = run(tmp_path, "get", "jobs", "--url", door.url, "--token-file", token_file(tmp_path))
    assert (code, other.heard) == (1, []) and "answered 302" in said


@pytest.mark.parametrize(
    ("answer", "given", "says"),
    [
        pytest.param((401, {"title": "who?"}), False, ("no credential was found", "--token-file"), id="401, none sent"),
        pytest.param(
            (401, {"title": "expired", "detail": "make one"}),
            True,
            ("does not take the token in", "expired; make one"),
            id="401 with one",
        ),
        pytest.param(
            (403, {"title": "ann may not list jobs", "detail": "ask for it"}),
            True,
            ("ann may not list jobs; ask for it",),
            id="403",
        ),
        pytest.param((403, {}), True, ("ask whoever manages the hub",), id="403 of something else on the way"),
    ],
)
def test_a_refusal_at_the_door_is_one_sentence_with_the_remedy(
    answer: tuple[int, dict[str, Any]], given: bool, says: tuple[str, ...], door: Door, tmp_path: Path
) -> None:
    door.answers.append((*answer, {}))
    words = ("--token-file", token_file(tmp_path)) if given else ()
    code, said = run(tmp_path, "get", "jobs", "--url", door.url, *words)
    assert (code, len(said.strip().splitlines())) == (4, 1), said
    assert all(one in said for one in says), said


def test_who_asks_too_much_waits_as_long_as_they_are_told(door: Door, tmp_path: Path) -> None:
    door.answers += [(429, {"title": "too fast"}, {"Retry-After": "1"})] * 2
    assert run(tmp_path, "get", "jobs", "--url", door.url)[0] == 0
    assert len(door.heard) == 3


@pytest.mark.parametrize(
    ("place", "plain", "server", "allowed"),
    [
        pytest.param(GatewayPlace("https://gateway.example", SAID), False, "", True, id="https"),
        pytest.param(GatewayPlace("http://gateway.example", SAID), False, "", False, id="plain http"),
        pytest.param(
            GatewayPlace("http://gateway.example", SAID), True, "", True, id="plain http, and the user said so"
        ),
        pytest.param(GatewayPlace("http://[::1]:1", SAID), False, "", True, id="this machine"),
        pytest.param(
            GatewayPlace("http://127.0.0.1.evil.example", SAID), False, "", False, id="a name that looks like it"
        ),
        pytest.param(
            GatewayPlace("http://localhost@evil.example", SAID), False, "", False, id="a user that looks like it"
        ),
        pytest.param(
            GatewayPlace("http://gateway.example", HUB), False, "https://h.example", False, id="a hub's plain http"
        ),
        pytest.param(
            GatewayPlace("https://gateway.example", HUB), False, "https://hub.example", True, id="a hub's https"
        ),
        pytest.param(GatewayPlace("http://127.0.0.1:80", HUB), False, "https://127.0.0.1:6443", True, id="a hub here"),
        pytest.param(
            GatewayPlace("http://127.0.0.1:80", HUB),
            True,
            "https://hub.example",
            False,
            id="a hub elsewhere that names this machine",
        ),
        pytest.param(GatewayPlace("http://127.0.0.1:80", FOLDER), False, "", True, id="the folder's"),
    ],
)
def test_where_a_credential_may_go(place: GatewayPlace, plain: bool, server: str, allowed: bool) -> None:
    if allowed:
        check_way(place, plain, lambda: server)
    else:
        with pytest.raises(Failure) as refused:
            check_way(place, plain, lambda: server)
        assert refused.value.code == DENIED and refused.value.remedy


def test_a_credential_is_not_shown() -> None:
    found = Credential(TOKEN, "the token in a file")
    assert TOKEN not in f"{found!r} {found}" and "the token in a file" in repr(found)


def test_two_ways_to_write_one_place_are_one_place() -> None:
    assert origin("HTTP://LocalHost:80/a") == origin("http://localhost") != origin("https://localhost")
