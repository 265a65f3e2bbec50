"""Keys of the gateway's own file, and the names that the door answers to."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from starlette.requests import Request

from fairway.gateway.callers.caller import AccessQuestion
from fairway.gateway.callers.hosts import Hosts
from fairway.gateway.callers.keys import read_keys
from fairway.gateway.http.problem import Problem
from fairway.process.http_callers import callers_known, own_hosts
from fairway.process.settings import Settings
from tests.support.http_door import House, callers, opened
from tests.support.memory.clock import ManualClock

LIST = "/v1/jobs?namespace=team-a"
KEY = "k" * 40


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


def key_file(folder: Path, text: str = f"# of the operators\n\n{KEY}\n", mode: int = 0o600) -> str:
    path = folder / "http.key"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


async def test_who_has_a_key_is_the_operator_and_may_do_everything(tmp_path: Path) -> None:
    keys = read_keys(key_file(tmp_path))
    come = callers(ManualClock(1), keys=(KEY,))
    assert keys.hold(KEY) and not keys.hold(KEY[:-1]) and not keys.hold("")
    caller = await come.tokens.who(KEY)
    assert caller.user == "operator"
    assert await come.may(caller, AccessQuestion("delete", "everything"))
    with pytest.raises(Problem, match="not good here"):
        await come.tokens.who("x" * 40)


@pytest.mark.parametrize(
    ("text", "mode", "cause"),
    [
        pytest.param(KEY, 0o644, "can be read by every user", id="a file that everybody can read"),
        pytest.param(KEY, 0o602, "can be read by every user", id="a file that everybody can write"),
        pytest.param("short\n", 0o600, "fewer than 24 characters", id="a key that can be guessed"),
        pytest.param("with blank " * 4, 0o600, "that no bearer token has", id="a key that cannot be sent"),
        pytest.param("# nothing\n", 0o600, "holds no key", id="an empty file"),
        pytest.param("a" * 70_000, 0o600, "larger than", id="a file that is something else"),
    ],
)
def test_a_key_file_is_refused_by_name(tmp_path: Path, text: str, mode: int, cause: str) -> None:
    with pytest.raises(ValueError, match=cause) as told:
        read_keys(key_file(tmp_path, text, mode))
    assert "FAIRWAY_HTTP_KEY_FILE" in str(told.value)


def test_a_key_file_that_is_not_there_or_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, Path(os.devnull)):
        with pytest.raises(ValueError, match="FAIRWAY_HTTP_KEY_FILE"):
            read_keys(str(path))


@pytest.mark.parametrize(
    ("headers", "status_"),
    [
        pytest.param({"Origin": "http://evil.example"}, 403, id="a page of another site"),
        pytest.param({"Origin": "null"}, 403, id="a page of no site"),
        pytest.param({"Origin": "http://127.0.0.1:8080"}, 200, id="a page of here"),
        pytest.param({"Host": "fairway.example:443"}, 421, id="a host that it was not told of"),
        pytest.param({"Host": "127.0.0.1.evil.example"}, 421, id="a host that begins like one of its own"),
        pytest.param({"Host": ""}, 421, id="no host"),
    ],
)
async def test_hosts_and_origins(house: House, headers: dict[str, str], status_: int) -> None:
    assert (await house.http.get(LIST, headers=headers)).status_code == status_


async def test_it_answers_to_the_name_under_which_others_reach_it() -> None:
    more = ("10.1.2.3", "[fd00::1]")
    of = Settings(http_host="0.0.0.0", public_url="https://fairway.example:8443/x", http_hosts=more)
    hosts = Hosts(own_hosts(of))
    for host, good in {
        "fairway.example": True,
        "FAIRWAY.example:80": True,
        "10.1.2.3:8080": True,
        "[fd00::1]:80": True,
        "0.0.0.0": False,
        "example": False,
        "x.fairway.example": False,
    }.items():
        request = Request({"type": "http", "headers": [(b"host", host.encode())]})
        if good:
            hosts.check(request)
        else:
            with pytest.raises(Problem):
                hosts.check(request)


def test_a_gateway_that_could_not_tell_who_comes_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"FAIRWAY_HUB_KUBECONFIG.*FAIRWAY_HTTP_KEY_FILE"):
        callers_known(Settings())
    assert len(callers_known(Settings(http_key_file=key_file(tmp_path)))) == 1
    assert len(callers_known(Settings(hub_kubeconfig="hub.kubeconfig"))) == 0
