"""The wheel holds all of Fairway and nothing else, and every module of it imports with the sources out of the way."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from source import CODE, ROOT, paths

_IMPORT = """
import importlib, sys
from pathlib import Path
wheel, *modules = sys.argv[1:]
sys.path[:] = [wheel] + [p for p in sys.path if not Path(p, "fairway").is_dir()]
for module in modules:
    print(importlib.import_module(module).__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_the_files_of_the_three_roots_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    roots = [ROOT / name for name in CODE]
    want = {p.relative_to(r).as_posix() for p in paths() for r in roots if p.is_relative_to(r / "fairway")}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == want


def test_the_wheel_carries_its_licence_and_its_command(wheel: zipfile.ZipFile) -> None:
    texts = {name.split("/", 1)[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert wheel.read(texts["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
    assert b"fairway = fairway.app.cli:main" in wheel.read(texts["entry_points.txt"])


def test_every_module_imports_from_the_wheel_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    files = [name for name in wheel.namelist() if name.endswith(".py") and not name.endswith("__main__.py")]
    modules = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files]
    command = [sys.executable, "-I", "-c", _IMPORT, str(tmp_path), *modules]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [str(tmp_path / name) for name in files]
