"""What pip does in the Dockerfile, done in folders of this machine: with the very commands. They ask the package index,
and so it is done on request alone (`make slow`, `make release`)."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairway.lab.supply.sbom import PATH
from fairway.lab.supply.wheels import FOLDER, PYTHON
from tests.tidy.deploy.test_image import COPIED, STAGES
from tests.tidy.source import ROOT

COMMANDS = re.findall(r"^RUN (python .*)$", STAGES[0], re.MULTILINE)
_LISTED = """
import importlib.metadata as m, json
print(json.dumps({d.metadata["Name"].lower().replace("_", "-"): d.version for d in m.distributions()}))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        f"{sys.version_info.major}.{sys.version_info.minor}" != PYTHON or sys.platform != "linux",
        reason=f"wheels are written down for Python {PYTHON} on Linux",
    ),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What the Dockerfile copies, and a Python with pip as its base image has one."""
    for name in sorted(COPIED):
        target = tmp_path / "src" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, target)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "base")], check=True)
    return tmp_path / "src"


def _run(source: Path, command: str) -> subprocess.CompletedProcess[str]:
    top = source.parent
    here = command.replace("/opt/fairway", f"{top}/opt").replace("/dist", f"{top}/dist")
    here = re.sub(r"^python ", f"{shlex.quote(str(top / 'base/bin/python'))} ", here)
    return subprocess.run(["sh", "-c", here], cwd=source, capture_output=True, text=True, check=False)


def test_the_commands_of_the_dockerfile_install_what_the_list_says_and_nothing_else(source: Path) -> None:
    assert len(COMMANDS) == 6
    for command in COMMANDS:
        done = _run(source, command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    program = source.parent / "opt/bin"
    asked = [str(program / "python"), "-c", _LISTED]
    found = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    said = json.loads((ROOT / PATH).read_text())
    listed = [one for one in said["components"] if one["type"] == "library"]
    assert found == {one["name"]: one["version"] for one in (said["metadata"]["component"], *listed)}
    helped = subprocess.run([program / "fairway", "--help"], capture_output=True, text=True, check=False)
    assert (helped.returncode, helped.stderr) == (0, "")


@pytest.mark.parametrize("name", ["requirements.txt", "build-requirements.txt"])
def test_bytes_other_than_those_that_were_written_down_are_refused(name: str, source: Path) -> None:
    path = source / FOLDER / name
    path.write_text(re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", path.read_text(), count=1))
    _run(source, COMMANDS[0])
    (command,) = [one for one in COMMANDS if one.endswith(f"/{name}")]
    done = _run(source, command)
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_a_package_that_nobody_wrote_down_is_refused(source: Path) -> None:
    path = source / FOLDER / "requirements.txt"
    path.write_text(re.sub(r" \\\n    --hash=sha256:[0-9a-f]{64}", "", path.read_text(), count=1))
    _run(source, COMMANDS[0])
    done = _run(source, next(one for one in COMMANDS if one.endswith("/requirements.txt")))
    assert done.returncode == 1
    assert "Hashes are required in --require-hashes mode" in done.stderr
