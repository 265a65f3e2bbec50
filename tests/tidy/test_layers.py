"""The layers contract works over all three roots: it complains about a tree that breaks it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.source import CODE, ROOT

# Every other fairway is taken off the path, whether PYTHONPATH or an editable install put it there.
_LINT = """
import sys
from pathlib import Path
ours = [str(Path.cwd() / name) for name in ("libs", "services", "proto")]
sys.path[:] = ours + [p for p in sys.path if not Path(p, "fairway").is_dir()]
from importlinter.cli import lint_imports_command
lint_imports_command(["--no-cache", "--no-logo"])
"""


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _LINT]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small fairway over three roots, with the contract of this checkout."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for root, package in zip(CODE, ("domain", "queue", "wire"), strict=True):
        _write(tmp_path, f"{root}/fairway/{package}/__init__.py")
    _write(tmp_path, "libs/fairway/adapters/__init__.py", "import fairway.wire")
    return tmp_path


def _write(tree: Path, path: str, text: str = "") -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text)


def test_a_tree_in_order_passes(tree: Path) -> None:
    assert _lint(tree).returncode == 0


@pytest.mark.parametrize(
    ("path", "text", "want"),
    [
        pytest.param(
            *("proto/fairway/wire/x.py", "import fairway.domain", "fairway.wire.x -> fairway.domain"),
            id="the wire looks up, across roots",
        ),
        pytest.param(
            *("services/fairway/quota/__init__.py", "import fairway.queue", "fairway.quota -> fairway.queue"),
            id="a service imports a service",
        ),
        pytest.param(
            *("libs/fairway/stray/__init__.py", "", "fairway.stray"),
            id="a package without a layer",
        ),
    ],
)
def test_a_tree_out_of_order_is_refused(tree: Path, path: str, text: str, want: str) -> None:
    _write(tree, path, text)
    run = _lint(tree)
    assert run.returncode == 1
    assert want in run.stdout
