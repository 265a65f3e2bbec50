"""What the image is installed from is written down, whole, with a hash of every file; and so is what is in it."""

import json
import tomllib
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from fairway.lab.supply import images, sbom
from fairway.lab.supply.closure import IMAGE, closure
from fairway.lab.supply.image_names import named
from fairway.lab.supply.locked import Locked, Wheel, normalized, read, written
from fairway.lab.supply.wheels import FOLDER, MACHINES
from tests.tidy.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONSTRAINTS = [line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line[0] != "#"]
WANTED = {
    "requirements.txt": PROJECT["project"]["dependencies"],
    "build-requirements.txt": PROJECT["build-system"]["requires"],
}
A = "a" * 64
B = "b" * 64


def _locked(name: str) -> dict[str, Locked]:
    return read((ROOT / FOLDER / name).read_text())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("name", WANTED)
def test_all_that_the_wheel_needs_is_there_and_nothing_else(name: str, machine: str) -> None:
    needed = closure(WANTED[name], {**IMAGE, "platform_machine": machine})
    assert len(needed) > 5
    assert set(_locked(name)) == set(needed)


@pytest.mark.parametrize("name", WANTED)
def test_each_package_has_the_version_that_is_tested(name: str) -> None:
    tested = {normalized(package): version for package, version in CONSTRAINTS}
    assert {one: tested.get(one) for one in _locked(name)} == {one.name: one.version for one in _locked(name).values()}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", WANTED)
def test_each_package_has_one_wheel_for_each_machine_that_the_image_is_built_for(name: str, machine: str) -> None:
    for one in _locked(name).values():
        fits = [wheel.file for wheel in one.wheels if wheel.file.endswith(("-any.whl", f"_{machine}.whl"))]
        assert len(fits) == 1, one
        assert normalized(fits[0].split("-")[0]) == one.name
        assert fits[0].split("-")[1] == one.version
    assert {len(one.wheels) for one in _locked(name).values()} <= {1, len(MACHINES)}


def test_what_is_written_is_read() -> None:
    one = Locked("one", "1.0", (Wheel("one-1.0-cp311-a_x86_64.whl", A), Wheel("one-1.0-cp311-b_aarch64.whl", B)))
    two = Locked("two-more", "2", (Wheel("two_more-2-py3-none-any.whl", A),))
    assert read(written(("a head",), (two, one))) == {"one": one, "two-more": two}


@pytest.mark.parametrize("line", ["other==1.0", "other>=1.0 \\", "-e .", "--index-url elsewhere"])
def test_a_line_without_a_hash_is_refused(line: str) -> None:
    whole = written((), (Locked("one", "1.0", (Wheel("one-1.0-py3-none-any.whl", A),)),))
    with pytest.raises(ValueError, match="not a package with a version and hashes"):
        read(f"{whole}{line}\n")


def test_the_list_of_what_is_in_the_image_is_as_it_is_made() -> None:
    assert (ROOT / sbom.PATH).read_text() == sbom.document(ROOT), "run `make schemas`"


def test_the_list_keeps_to_the_schema_of_cyclonedx() -> None:
    judge = JsonStrictValidator(SchemaVersion.V1_6)
    text = (ROOT / sbom.PATH).read_text()
    assert judge.validate_str(text) is None
    assert judge.validate_str(text.replace('"library"', '"shelf"')) is not None


def test_the_list_names_each_package_with_version_licence_and_hashes_and_the_base_image() -> None:
    said = json.loads((ROOT / sbom.PATH).read_text())
    assert said["metadata"]["component"]["version"] == PROJECT["project"]["version"]
    base, *libraries = said["components"]
    locked = _locked("requirements.txt")
    assert base["name"] == "library/python"
    assert [one["name"] for one in libraries if not one["licenses"]] == []
    assert {one["purl"] for one in libraries} == {f"pkg:pypi/{one.name}@{one.version}" for one in locked.values()}
    hashes = {part["hashes"][0]["content"] for one in libraries for part in one["externalReferences"]}
    assert hashes == {wheel.sha256 for one in locked.values() for wheel in one.wheels}


def test_every_image_has_the_digest_that_was_written_down_for_it() -> None:
    found = {one.name: one.digest for path in images.FILES for one in named((ROOT / path).read_text())}
    assert len(found) == 3 and all(found.values())
    assert found == images.locked(ROOT)


def test_a_release_is_refused_as_long_as_an_image_has_none(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    for path in images.FILES:
        (tmp_path / path).write_text(_bare((ROOT / path).read_text()))
    assert {one.split(" ")[1] for one in images.complaints(tmp_path)} == {
        *("nats:2.15.0-alpine", "valkey/valkey:9.1.2-alpine", "python:3.11-slim")
    }


def _bare(text: str) -> str:
    for one in named(text):
        text = text.replace(f"{one.name}@{one.digest}", one.name) if one.digest else text
    return text
