"""Digests of images: asked of a registry, and written where images are named."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from fairway.lab.supply import images
from fairway.lab.supply.image_names import DOCKER, Image, image
from fairway.lab.supply.registry import NoDigest, digest
from tests.contract.supply.small_registry import LIST, SINGLE, Registry, index, listening

BOTH = index("linux/amd64", "linux/arm64", "unknown/unknown")
COMPOSE = """\
services:
  nats:
    image: nats:2.15.1-alpine
  ours:
    image: fairway:0.2.0
  redis:
    image: valkey/valkey:9.1-alpine  # a comment
"""
DOCKERFILE = "FROM python:3.11-slim AS build\nRUN true\nFROM python:3.11-slim\nUSER 10001:10001\n"


def _digest(body: bytes) -> str:
    return f"sha256:{sha256(body).hexdigest()}"


def _ask(registry: Registry, name: str) -> str:
    return digest(image(name), {DOCKER: registry.address})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "docker-compose.yml").write_text(COMPOSE)
    (tmp_path / "deploy/Dockerfile").write_text(DOCKERFILE)
    return tmp_path


@pytest.mark.parametrize("closed", [True, False], ids=["that wants a token", "that wants none"])
def test_the_digest_is_that_of_the_index_of_a_registry(closed: bool) -> None:
    with listening(Registry({"library/nats:2.15.1-alpine": BOTH}, closed)) as registry:
        assert _ask(registry, "nats:2.15.1-alpine") == _digest(BOTH)
    tokens = [path for path in registry.asked if path.startswith("/token")]
    assert tokens == ["/token?service=small&scope=repository%3Alibrary%2Fnats%3Apull"] * closed


def test_an_index_as_docker_wrote_them_first_is_one_too() -> None:
    older = index("linux/amd64", "linux/arm64", kind=LIST)
    with listening(Registry({"valkey/valkey:9.1-alpine": older})) as registry:
        assert _ask(registry, "valkey/valkey:9.1-alpine") == _digest(older)


@pytest.mark.parametrize(
    ("registry", "cause"),
    [
        pytest.param(Registry({}), "answers 404; is it the right name", id="no such tag"),
        pytest.param(Registry({"library/a:1": BOTH}, claims=f"sha256:{'0' * 64}"), "do not use it", id="other bytes"),
        pytest.param(
            Registry({"library/a:1": BOTH}, realm="ftp://127.0.0.1/token"), "do not use it", id="a token elsewhere"
        ),
        pytest.param(
            Registry({"library/a:1": index("linux/amd64")}), "none for linux/arm64", id="a platform is missing"
        ),
        pytest.param(
            Registry({"library/a:1": index("linux/amd64", kind=SINGLE)}),
            "of one platform alone",
            id="a single manifest",
        ),
        pytest.param(Registry({"library/a:1": b"<html>"}), "is there a proxy in between", id="a page"),
        pytest.param(Registry({"library/a:1": b" " * (4 * 1024 * 1024 + 1)}), "is longer than", id="far too long"),
    ],
)
def test_it_is_refused_with_its_cause(registry: Registry, cause: str) -> None:
    with listening(registry), pytest.raises(NoDigest, match=rf"^a:1: .*{re.escape(cause)}"):
        _ask(registry, "a:1")


def test_a_registry_that_leads_elsewhere_gives_no_token_away() -> None:
    near = Registry({"library/a:1": BOTH}, closed=False)
    with listening(near), listening(Registry({})) as registry:
        registry.leads = near.address
        assert _ask(registry, "a:1") == _digest(BOTH)
    assert (near.asked, near.tokens) == (["/v2/library/a/manifests/1"], [""])
    assert any(registry.tokens), "it was given one itself"


def test_a_registry_that_leads_to_another_scheme_is_not_followed() -> None:
    with (
        listening(Registry({}, leads="ftp://127.0.0.1")) as registry,
        pytest.raises(NoDigest, match=r"which is no http"),
    ):
        _ask(registry, "a:1")


def test_a_registry_that_is_not_there_is_said_so() -> None:
    with listening(Registry({})) as registry:
        pass
    with pytest.raises(NoDigest, match=r"^a:1: .* is not reached: "):
        _ask(registry, "a:1")


def test_every_image_is_named_by_its_digest_and_the_check_then_agrees(checkout: Path) -> None:
    tags = {"library/nats:2.15.1-alpine": BOTH, "valkey/valkey:9.1-alpine": index("linux/arm64", "linux/amd64")}
    tags["library/python:3.11-slim"] = index("linux/amd64", "linux/arm64")
    assert len(images.complaints(checkout)) == 4
    with listening(Registry(tags)) as registry:
        found = images.write(checkout, lambda one: digest(one, {DOCKER: registry.address}))
    python, nats, valkey = (_digest(tags[one]) for one in sorted(tags, key=lambda one: "python" not in one))
    assert found == {"nats:2.15.1-alpine": nats, "python:3.11-slim": python, "valkey/valkey:9.1-alpine": valkey}
    assert images.locked(checkout) == found
    assert images.complaints(checkout) == []
    assert (checkout / "docker-compose.yml").read_text() == COMPOSE.replace(
        "2.15.1-alpine", f"2.15.1-alpine@{nats}"
    ).replace("9.1-alpine", f"9.1-alpine@{valkey}")
    assert (checkout / "deploy/Dockerfile").read_text() == DOCKERFILE.replace("slim", f"slim@{python}")


def test_they_are_asked_anew_whatever_digest_they_have(checkout: Path) -> None:
    for number in (1, 2):
        wanted = f"sha256:{str(number) * 64}"
        images.write(checkout, lambda one, wanted=wanted: wanted)
        assert set(images.locked(checkout).values()) == {wanted}
        assert images.complaints(checkout) == []


def test_one_that_is_not_answered_leaves_everything_as_it_was(checkout: Path) -> None:
    def ask(one: Image) -> str:
        if one.repository == "valkey/valkey":
            raise NoDigest("away")
        return f"sha256:{'1' * 64}"

    with pytest.raises(NoDigest):
        images.write(checkout, ask)
    assert (checkout / "docker-compose.yml").read_text() == COMPOSE
    assert images.locked(checkout) == {}


def test_a_digest_that_nobody_answered_is_found(checkout: Path) -> None:
    images.write(checkout, lambda one: f"sha256:{'1' * 64}")
    path = checkout / "docker-compose.yml"
    path.write_text(
        path.read_text().replace(f"nats:2.15.1-alpine@sha256:{'1' * 64}", f"nats:2.15.1-alpine@sha256:{'2' * 64}")
    )
    (complaint,) = images.complaints(checkout)
    assert complaint.startswith(
        "docker-compose.yml: the digest of nats:2.15.1-alpine is not that of deploy/images.lock"
    )


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param("nats:2", (DOCKER, "library/nats", "2"), id="of Docker itself"),
        pytest.param("valkey/valkey:9", (DOCKER, "valkey/valkey", "9"), id="of somebody at Docker"),
        pytest.param("ghcr.io/a/b/c:1", ("ghcr.io", "a/b/c", "1"), id="of another registry"),
        pytest.param("localhost:5000/a:1", ("localhost:5000", "a", "1"), id="of a port here"),
    ],
)
def test_a_name_says_where_an_image_is(written: str, want: tuple[str, str, str]) -> None:
    found = image(f"{written}@sha256:{'a' * 64}")
    assert (found.name, found.digest) == (written, f"sha256:{'a' * 64}")
    assert (found.registry, found.repository, found.tag) == want


@pytest.mark.parametrize("written", ["nats", "nats:2@sha256:12", "localhost:5000/a"])
def test_a_name_that_floats_or_has_half_a_digest_is_none(written: str) -> None:
    with pytest.raises(ValueError, match=r"its tag|64 hexadecimal"):
        image(written)
