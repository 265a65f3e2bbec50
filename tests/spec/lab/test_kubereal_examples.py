"""What operators publish is fetched once, and is what was pinned: with a Go module of the test's own."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairway.lab.kubereal.sources import examples

MODULE = "example.org/operator@v1.0.0"
FILES = {
    "go.mod": "module example.org/operator\n",
    "examples/job.yaml": "kind: Job\n",
    "config/crd.yaml": "kind: Crd\n",
    "api/jsonschema/schema.json": "{}",
}
CHECKSUM = "h1:lyY+y4ETBmSYdB9FhVAOTLFfXLCGpL7WyUcEqgI6Vi8="


@pytest.fixture
def checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of the module, which a folder serves as a proxy does."""
    served = tmp_path / "proxy/example.org/operator/@v"
    served.mkdir(parents=True)
    (served / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    (served / "v1.0.0.mod").write_text(FILES["go.mod"])
    with zipfile.ZipFile(served / "v1.0.0.zip", "w") as packed:
        for name, text in FILES.items():
            packed.writestr(f"{MODULE}/{name}", text)
    kept = tmp_path / "kept"
    for name, value in {"GOPROXY": f"file://{tmp_path}/proxy", "GOSUMDB": "off", "GOMODCACHE": str(kept)}.items():
        monkeypatch.setenv(name, value)
    yield CHECKSUM
    for folder, _, _ in os.walk(kept):  # Go writes them for reading only
        Path(folder).chmod(0o700)


def fetched(folder: Path, module: str, checksum: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What lies in the cache afterwards."""
    monkeypatch.setattr(examples, "MODULES", {"operator 1": (module, checksum)})
    examples.fetch(folder, lambda text: None)
    kept = examples.folder(folder)
    return sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file())


def test_the_examples_and_the_schema_are_kept_and_are_not_fetched_again(
    checksum: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    want = ["operator 1/api/jsonschema/schema.json", "operator 1/examples/job.yaml"]
    assert fetched(cache, MODULE, checksum, monkeypatch) == want
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "emptied"))
    assert fetched(cache, MODULE, checksum, monkeypatch) == want


@pytest.mark.parametrize(
    ("module", "pinned", "says"),
    [
        pytest.param(MODULE, "h1:another", "in place of h1:another; empty Go's module cache", id="another one"),
        pytest.param("example.org/none@v1.0.0", "h1:x", "cannot be fetched: .*; name with GOPROXY", id="one of nobody"),
    ],
)
@pytest.mark.usefixtures("checksum")
def test_what_is_not_what_was_pinned_is_not_kept(
    module: str, pinned: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(examples.NotFetched, match=says):
        fetched(tmp_path / "cache", module, pinned, monkeypatch)
    assert not examples.folder(tmp_path / "cache").exists()
