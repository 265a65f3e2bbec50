"""`python -m fairway.lab.supply.sbom`: writes what is in the image as a CycloneDX document, twice the same.

Versions and hashes are those of the requirements that the image is installed from; licences and what needs what are as
the installed packages declare them. The base image is one component: what is in it, its own publisher lists.
"""

import tomllib
from collections.abc import Iterable
from hashlib import blake2b
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import typer
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License, LicenseAcknowledgement
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

from fairway.lab.supply.closure import closure
from fairway.lab.supply.image_names import Image, base_of
from fairway.lab.supply.locked import Locked, normalized, read
from fairway.lab.supply.wheels import FOLDER

PATH = FOLDER / "sbom.cdx.json"
_LICENSE = "License :: "


def document(root: Path) -> str:
    """The whole document. Its serial number is drawn from its contents, and it has no time."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    locked = read((root / FOLDER / "requirements.txt").read_text())
    needs = closure(project["dependencies"])
    libraries = {name: _library(one) for name, one in locked.items()}
    base = _base(base_of((root / "deploy/Dockerfile").read_text()))
    image = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.CONTAINER,
        bom_ref=project["name"],
        description=project["description"],
        licenses=[LicenseFactory().make_from_string(project["license"])],
    )
    bom = Bom(components=[*libraries.values(), base])
    bom.metadata.component = image
    bom.register_dependency(image, [base, *(libraries[name] for name in _direct(project["dependencies"]))])
    for name, library in libraries.items():
        bom.register_dependency(library, [libraries[one] for one in sorted(needs[name])])
    return _repeatable(bom)


def _direct(requirements: Iterable[str]) -> list[str]:
    return sorted({normalized(Requirement(one).name) for one in requirements})


def _library(one: Locked) -> Component:
    purl = PackageURL("pypi", None, one.name, one.version)
    files = [
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(wheel.file),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=wheel.sha256)],
        )
        for wheel in one.wheels
    ]
    return Component(
        name=one.name,
        version=one.version,
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        licenses=_licences(one.name),
        external_references=files,
    )


def _licences(name: str) -> list[License]:
    """As the package declares them: its expression, else its field if that is one line, else its classifiers."""
    said = metadata(name)
    classifiers = [one.split(" :: ")[-1] for one in said.get_all("Classifier", ()) if one.startswith(_LICENSE)]
    fields = [one for one in said.get_all("License", ()) if one and "\n" not in one]
    declared = said.get_all("License-Expression", ()) or fields or classifiers
    make = LicenseFactory().make_from_string
    return [make(text, license_acknowledgement=LicenseAcknowledgement.DECLARED) for text in declared]


def _base(image: Image) -> Component:
    digest = image.digest.removeprefix("sha256:")
    qualifiers = {"repository_url": f"{image.registry}/{image.repository}", "tag": image.tag}
    return Component(
        name=image.repository,
        version=image.digest or image.tag,
        type=ComponentType.CONTAINER,
        bom_ref="base",
        description=f"The base image {image.name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
        purl=PackageURL("oci", None, image.repository.rsplit("/", 1)[-1], image.digest or None, qualifiers),
    )


def _repeatable(bom: Bom) -> str:
    said: dict[str, Any] = msgspec.json.decode(JsonV1Dot6(bom).output_as_string())
    del said["metadata"]["timestamp"]
    del said["serialNumber"]
    number = UUID(bytes=blake2b(msgspec.json.encode(said), digest_size=16).digest(), version=5)
    whole = {**said, "serialNumber": number.urn}
    return msgspec.json.format(msgspec.json.encode(whole, order="deterministic")).decode() + "\n"


def write(root: Path) -> str:
    """Writes the document; returns its path below `root`."""
    (root / PATH).write_text(document(root), "utf-8")
    return str(PATH)


if __name__ == "__main__":
    typer.echo(f"wrote {write(Path())}")
