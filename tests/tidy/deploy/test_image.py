"""The Dockerfile, as far as it can be held to account where no container engine runs."""

import re
import tomllib
from collections.abc import MutableMapping
from typing import Any

import pytest

from fairway.process.main import Process
from fairway.process.settings import Settings
from tests.tidy.source import CODE, ROOT

DOCKERFILE = re.sub(r"\\\n\s*", " ", (ROOT / "deploy/Dockerfile").read_text())
STAGES = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
COPIED = {word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}


def test_the_image_is_built_from_every_root_of_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert set(build["targets"]["wheel"]["sources"]) == set(build["dev-mode-dirs"]) == set(CODE)
    assert set(CODE) <= COPIED


def test_what_the_image_copies_passes_the_dockerignore() -> None:
    allowed = re.findall(r"^!(.+)$", (ROOT / "deploy/Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert set(allowed) == COPIED


@pytest.mark.parametrize(
    ("stage", "pattern", "want"),
    [
        pytest.param(0, r"^python:3\.11-slim\S* AS build$", True, id="it is built on the slim image"),
        pytest.param(-1, r"^python:3\.11-slim(@\S+)?$", True, id="it runs on the slim image"),
        pytest.param(-1, r"^USER (?!0)\d+:\d+$", True, id="it does not run as root"),
        pytest.param(-1, r'^ENTRYPOINT \["fairway"\]$', True, id="its entry point is the command"),
        pytest.param(-1, r"apt-get|gcc|hatchling|pip install", False, id="no build tool in what runs"),
        pytest.param(-1, r"^COPY (?!--from=build)", False, id="it takes from the build stage only"),
        pytest.param(
            0, r"pip.* install (?!--(require-hashes|no-index) --no-deps )", False, id="of all a hash is asked"
        ),
        pytest.param(
            0, r"pip wheel --no-index --no-deps --no-build-isolation", True, id="and of what it is built with"
        ),
        pytest.param(
            0, r"install .*/sbom\.cdx\.json /opt/fairway/share/", True, id="it carries the list of what is in it"
        ),
        pytest.param(0, r"^RUN \S+ -m fairway\.placement\.loops\.build$", True, id="placement is compiled in it"),
        pytest.param(0, r":latest|^ADD ", False, id="nothing floats"),
    ],
)
def test_the_dockerfile(stage: int, pattern: str, want: bool) -> None:
    assert bool(re.search(pattern, STAGES[stage], re.MULTILINE)) is want


async def test_the_health_check_of_the_image_asks_what_a_process_answers() -> None:
    """Before it has a bus: whoever waits for one is alive."""
    (path,) = re.findall(r"HEALTHCHECK.*\+ '(/\w+)'", DOCKERFILE)
    said: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    await Process(("admission",), Settings())(scope, receive, send)
    assert said[0]["status"] == 200


def test_every_page_and_manifest_names_the_image_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "docker-compose.yml"]
    pages += [path for path in ROOT.glob("deploy/**/*") if path.is_file()]
    named = {tag for path in pages for tag in re.findall(r"\bfairway:(\d[\w.-]*)", path.read_text())}
    assert named == {version}
