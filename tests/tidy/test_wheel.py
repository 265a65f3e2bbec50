"""Two wheels are made from the tree: `fairway`, and `fairway-lab` beside it. Each holds its files and nothing else, and
is tried with the sources out of the way."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.tidy.source import CODE, ROOT, paths

LAB = ROOT / "libs/fairway/lab"
# The demo plays them, too: a link in the checkout, files in the wheel.
EXAMPLES = ROOT / "deploy/examples"
# Only what is asked for is on the path, beside other people's packages: no checkout, and no other Fairway's metadata.
_ALONE = """
import importlib, importlib.metadata, sys
from pathlib import Path
wheels, modules = sys.argv[1].split(","), sys.argv[2:]
sys.path[:] = wheels + [p for p in sys.path if not Path(p, "fairway").is_dir()]
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **asked: [
    one for one in found(**asked) if str(one.dist.locate_file("")) in wheels
]
"""
_IMPORT = f"""{_ALONE}
for module in modules:
    print(importlib.import_module(module).__file__)
"""
_COMMANDS = f"""{_ALONE}
from fairway.cli.main import app
import typer
print(*sorted(typer.main.get_command(app).commands))
"""
_LAB_FILES = f"""{_ALONE}
from fairway.lab.demo.command import SCENARIO
from fairway.lab.demo.scenario import load
from fairway.lab.kubereal import kwok_stages
from fairway.workloads.crds import definitions
print(len(load(SCENARIO).pieces), len(definitions()), len(kwok_stages.stages("c", 0)) > 0)
"""


def _built(project: Path, out: Path) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    built = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return _built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return _built(LAB, tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def installed(
    product: zipfile.ZipFile, lab: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Both, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    product.extractall(folder / "product")
    lab.extractall(folder / "lab")
    return folder / "product", folder / "lab"


def _run(program: str, *given: str) -> str:
    command = [sys.executable, "-I", "-c", program, *given]
    run = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def _files(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if ".dist-info/" not in name}


def test_each_wheel_holds_its_part_of_the_three_roots_and_nothing_else(
    product: zipfile.ZipFile, lab: zipfile.ZipFile
) -> None:
    roots = [ROOT / name for name in CODE]
    want = {p.relative_to(r).as_posix() for p in paths() for r in roots if p.is_relative_to(r / "fairway")}
    of_lab = {name for name in want if name.startswith("fairway/lab/")}
    assert _files(product) == want - of_lab
    examples = {f"fairway/lab/demo/script/{p.relative_to(ROOT / 'deploy')}" for p in EXAMPLES.rglob("*.yaml")}
    assert _files(lab) == (of_lab | examples) - {"fairway/lab/pyproject.toml"}


def test_the_wheel_carries_its_licence_and_its_command(product: zipfile.ZipFile) -> None:
    texts = {name.split("/", 1)[1]: name for name in product.namelist() if ".dist-info/" in name}
    assert product.read(texts["licenses/LICENSE"]) == (ROOT / "LICENSE").read_bytes()
    assert b"fairway = fairway.cli.main:main" in product.read(texts["entry_points.txt"])


@pytest.mark.parametrize("name", ["product", "lab"])
def test_every_module_imports_from_the_wheels_alone(name: str, installed: tuple[Path, Path]) -> None:
    """Those of the product without the lab."""
    folder = installed[0] if name == "product" else installed[1]
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.py") if p.name != "__main__.py")
    modules = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files]
    path = installed[:1] if name == "product" else installed
    assert _run(_IMPORT, ",".join(map(str, path)), *modules).splitlines() == [str(folder / name) for name in files]


def test_the_lab_adds_its_commands_to_those_of_the_product(installed: tuple[Path, Path]) -> None:
    product, lab = installed
    alone = _run(_COMMANDS, str(product)).split()
    both = _run(_COMMANDS, f"{product},{lab}").split()
    assert {"run", "submit", "join", "replay"} <= set(alone)
    assert set(both) - set(alone) == {"up", "demo", "simulate", "bench"}


def test_the_lab_finds_its_files_without_the_checkout(installed: tuple[Path, Path]) -> None:
    """The demo's scenario with its manifests, Fairway's own kinds, and the stages of kwok."""
    pieces, kinds, stages = _run(_LAB_FILES, ",".join(map(str, installed))).split()
    assert (int(pieces) > 20, int(kinds), stages) == (True, 8, "True")
