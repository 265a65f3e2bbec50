"""Names of images in docker-compose.yml and the Dockerfile: what is named, and by which digest."""

import re
from collections.abc import Mapping

from msgspec import Struct

# Where an image without a registry in its name is from, and where that registry answers.
DOCKER = "docker.io"
_NAMED = re.compile(r"^(?P<before>(?:FROM|[ ]+image:) +)(?P<name>[^\s#]+)(?P<after>.*)$", re.MULTILINE)
_DIGEST = re.compile(r"^sha256:[0-9a-f]{64}$")
# Built here, from the checkout.
_OURS = "fairway"


class Image(Struct, frozen=True):
    """`name` is as a file has it, without the digest."""

    name: str
    registry: str
    repository: str
    tag: str
    digest: str = ""


def image(written: str) -> Image:
    """Raises ValueError for a name without a tag, or with a digest that is none."""
    name, _, digest = written.partition("@")
    if digest and not _DIGEST.match(digest):
        raise ValueError(f"{written}: a digest is sha256: and 64 hexadecimal digits")
    first, slash, rest = name.partition("/")
    elsewhere = bool(slash) and (first == "localhost" or "." in first or ":" in first)
    registry = first if elsewhere else DOCKER
    repository, colon, tag = (rest if elsewhere else name).rpartition(":")
    if not colon:
        raise ValueError(f"{written}: an image is named with its tag")
    if registry == DOCKER and "/" not in repository:
        repository = f"library/{repository}"
    return Image(name, registry, repository, tag, digest)


def named(text: str) -> list[Image]:
    """The images that a file takes from a registry, in its order, each as often as it is named."""
    found = [match["name"] for match in _NAMED.finditer(text)]
    return [image(name) for name in found if not _is_ours(name)]


def base_of(dockerfile: str) -> Image:
    """What the image of the last stage is made from."""
    return named(dockerfile)[-1]


def pinned(text: str, digests: Mapping[str, str]) -> str:
    """The file with each image named by its digest, too. Raises KeyError for an image that has none in `digests`."""

    def with_digest(match: re.Match[str]) -> str:
        if _is_ours(match["name"]):
            return match[0]
        name = image(match["name"]).name
        return f"{match['before']}{name}@{digests[name]}{match['after']}"

    return _NAMED.sub(with_digest, text)


def _is_ours(name: str) -> bool:
    return name.startswith(f"{_OURS}:")
