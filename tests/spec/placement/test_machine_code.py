"""The loops' machine code: what it depends on, and what becomes of a process where it is missing or damaged."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from fairway.placement.loops import machine_code
from fairway.placement.loops.compiled import LOOPS
from fairway.runtime.views import compiled_placement
from tests.properties.models.loops import as_written

BUILT = machine_code.places()[0] / machine_code.key()


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    with as_written():
        yield


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the code is looked for instead."""
    monkeypatch.setattr(machine_code, "places", lambda: (tmp_path,))
    return tmp_path


def compiled() -> bool:
    return all(one.run is not one.written for one in LOOPS.values())


def test_what_was_installed_is_loaded_and_nothing_is_compiled() -> None:
    assert machine_code.load() == ""
    assert compiled()


def test_a_change_in_any_source_is_another_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in one that only others call: what it does is compiled into them."""
    sources = tmp_path / "loops"
    shutil.copytree(Path(machine_code.__file__).parent, sources, ignore=shutil.ignore_patterns("__*__"))
    before = machine_code.key()
    monkeypatch.setattr(machine_code, "_SOURCES", sources)
    shutil.copy(Path(machine_code.__file__).parent / "__init__.py", sources)
    assert machine_code.key() == before
    keys = {before}
    for source in sources.glob("*.py"):
        source.write_text(source.read_text() + "\n")
        keys.add(machine_code.key())
    assert len(keys) == 1 + len(list(sources.glob("*.py")))


@pytest.mark.parametrize("name", ["PROCESSOR", "numba", "llvmlite"])
def test_so_is_another_processor_or_compiler(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = machine_code.key()
    if name == "PROCESSOR":
        monkeypatch.setattr(machine_code, name, "x86-64-v4")
    else:
        monkeypatch.setattr(getattr(machine_code, name), "__version__", "0.0.0")
    assert machine_code.key() != before


def test_code_made_on_one_processor_runs_on_another() -> None:
    """The compiler keeps what it made apart by the machine's own processor, unless it is told which to compile for."""
    elsewhere = "import llvmlite.binding as b; b.get_host_cpu_name = lambda: 'znver4'; b.get_host_cpu_features = dict"
    load = "from fairway.placement.loops import machine_code; print(repr(machine_code.load()))"
    run = subprocess.run([sys.executable, "-c", f"{elsewhere}; {load}"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "''"


def test_missing_code_is_said(place: Path) -> None:
    assert machine_code.load() == f"no machine code of {machine_code.key()} in {place}"
    assert not compiled()


@pytest.mark.parametrize("of_others", ["folder", "place"])
def test_code_that_others_could_have_put_there_is_not_run(of_others: str, place: Path) -> None:
    folder = place / machine_code.key()
    shutil.copytree(BUILT, folder)
    place.chmod(0o755)
    folder.chmod(0o755)
    assert machine_code.load() == ""
    (folder if of_others == "folder" else place).chmod(0o777)
    assert machine_code.load().startswith("no machine code of ")


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for all, such as that of temporary files, is none."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert machine_code.places() == (BUILT.parent,)


@pytest.mark.parametrize("harm", ["cut", "nonsense", "gone"])
def test_damaged_code_is_said_and_taken_away_so_that_it_is_made_anew(harm: str, place: Path) -> None:
    folder = place / machine_code.key()
    shutil.copytree(BUILT, folder)
    (file,) = folder.glob("judging.judge-*.nbc")
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:1000] if harm == "cut" else b"nonsense")
    assert machine_code.load().startswith(f"the machine code in {folder} cannot be read: ")
    assert not compiled()
    assert not folder.exists()


def test_a_process_says_what_is_missing_goes_on_and_mends_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is another process; here one that has it ready."""

    def build() -> str:
        shutil.copytree(BUILT, place / machine_code.key())
        return ""

    monkeypatch.setattr(machine_code, "build_apart", build)
    with structlog.testing.capture_logs() as logs:
        mending = compiled_placement.loaded()
        assert mending is not None
        mending.join()
    assert [(one["event"], one["service"]) for one in logs] == [("uncompiled", "placement"), ("compiled", "placement")]
    assert "no machine code" in logs[0]["cause"] and "fairway.placement.loops.build" in logs[0]["remedy"]
    assert compiled()


def test_what_cannot_be_mended_is_said_and_choices_go_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "build_apart", lambda: "no space left on device")
    with structlog.testing.capture_logs() as logs:
        mending = compiled_placement.loaded()
        assert mending is not None
        mending.join()
    assert [one["cause"] for one in logs][-1] == "no space left on device"
    assert not compiled()


@pytest.mark.slow
def test_a_compiler_in_another_process_makes_code_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "libs/fairway/placement/loops"
    shutil.copytree(Path(machine_code.__file__).parents[3], tmp_path / "libs")
    command = [sys.executable, "-m", "fairway.placement.loops.build"]
    environment = {"PYTHONPATH": str(tmp_path / "libs"), "PATH": "/usr/bin", "HOME": str(tmp_path)}
    shutil.rmtree(sources / "__compiled__")
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
    assert [one.name for one in (sources / "__compiled__").iterdir()] == [BUILT.name]
