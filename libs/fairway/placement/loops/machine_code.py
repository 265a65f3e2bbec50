"""The machine code of the loops: compiled when Fairway is installed, kept beside them and loaded by every process.

The compiler's own cache sees neither changes in other files nor that code was made for another processor: here all code
lies in one folder whose name is a digest of every source of the loops, of the versions, and of the processor that it is
made for, which is the same for all machines of one architecture.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]  # it has no types
import numba
import numpy as np
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import register_jitable

from fairway.placement.loops.compiled import INNER, LOOPS, CompiledLoop
from fairway.placement.loops.signatures import signature

# Any of the architecture, without what only newer ones have: the code may be made on one machine and run on another.
PROCESSOR = "x86-64" if platform.machine() == "x86_64" else "generic"
_SOURCES = Path(__file__).parent
_KEPT = "__compiled__"
_COMPLETE = "complete"

config.CPU_NAME = PROCESSOR  # type: ignore[attr-defined]  # made from the environment
config.CPU_FEATURES = ""  # type: ignore[attr-defined]  # made from the environment

# Divisions are never by zero, no array is made and none is kept: that loops count who uses an array costs more than all
# else that they do, and that they call each other more than what is called.
_LOOP: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
_INNER: dict[str, Any] = {"error_model": "numpy", "forceinline": True}


def key() -> str:
    """What the code depends on, as a name."""
    made_with = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, platform.machine(), PROCESSOR)
    digest = sha256(repr(made_with).encode())
    for source in sorted(_SOURCES.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def places() -> tuple[Path, ...]:
    """Where the code may lie: beside its sources, and where those may not be written, in the cache of a user who has
    one. Nowhere else: whoever could put it there would have this process run what he likes."""
    own = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    beside = _SOURCES / _KEPT
    return (beside, Path(own) / "fairway" / "placement") if Path(own).is_absolute() else (beside,)


def _is_there(folder: Path) -> bool:
    """And, where it is not beside its sources, whom it is of: it is run as it lies."""
    if not (folder / _COMPLETE).exists():
        return False
    if folder.parent == _SOURCES / _KEPT:
        return True
    return all(one.st_uid == os.geteuid() and not one.st_mode & 0o022 for one in (folder.stat(), folder.parent.stat()))


def load() -> str:
    """From now on loops run compiled; otherwise says why not, and all run as they are written. Never compiles."""
    name = key()
    found = [place / name for place in places() if _is_there(place / name)]
    if not found:
        return f"no machine code of {name} in {' or '.join(str(place) for place in places())}"
    try:
        made = {one: _loaded(one, found[0]) for one in _loops()}
    except Exception as error:  # whatever a damaged file makes of itself
        shutil.rmtree(found[0], ignore_errors=True)
        return f"the machine code in {found[0]} cannot be read: {error or type(error).__name__}"
    for one, run in made.items():
        one.run = run
    return ""


def build() -> Path:
    """Compiles all loops (half a minute) into the first place that can be written, unless that was done."""
    name = key()
    for place in places():
        if _is_there(place / name):
            return place / name
    errors = []
    for place in places():
        try:
            place.mkdir(mode=0o755, parents=True, exist_ok=True)
            return _built(place, name)
        except OSError as error:
            errors.append(str(error))
    raise OSError(f"no place for the machine code of placement: {'; '.join(errors)}")


def build_apart() -> str:
    """The same in a process of its own, at the lowest priority; says what went wrong, if anything did."""
    command = [sys.executable, "-m", "fairway.placement.loops.build", "--nice"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stderr.strip()[-500:] or f"the compiler ended with {run.returncode}"


def _built(place: Path, name: str) -> Path:
    """Whoever is first has made it."""
    folder = Path(tempfile.mkdtemp(dir=place, prefix=f".{name}-"))
    try:
        for one in _loops():
            _dispatcher(one, folder).compile(signature(one.written))
        (folder / _COMPLETE).touch()
        folder.chmod(0o755)
        if not (place / name).exists():
            folder.rename(place / name)
        if not _is_there(place / name):
            raise OSError(f"{place} may be written by others; remove it, or let its user alone write there")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if place == _SOURCES / _KEPT:  # of sources that are no more
        for old in place.iterdir():
            if old.name != name and not old.name.startswith("."):
                shutil.rmtree(old, ignore_errors=True)
    return place / name


@cache
def _loops() -> tuple[CompiledLoop[Any, Any], ...]:
    for module in ("room", "filling", "bin_packing", "judging", "gang_judging", "record_columns", "nearness"):
        import_module(f"fairway.placement.loops.{module}")
    for function in INNER:
        register_jitable(**_INNER)(function)
    return tuple(LOOPS.values())


def _loaded(one: CompiledLoop[Any, Any], folder: Path) -> Any:
    """The code itself, which is called without a look at the type of every array of every argument: that takes longer
    than most of the loops. Their types are those of the annotations, which mypy and a test compare with what is
    given."""
    dispatcher = _dispatcher(one, folder)
    code = dispatcher._cache.load_overload(signature(one.written), dispatcher.targetctx)
    if code is None:
        raise ValueError(f"{one.written.__name__} is missing")
    return code.entry_point


def _dispatcher(one: CompiledLoop[Any, Any], folder: Path) -> Any:
    dispatcher = numba.njit(**_LOOP)(one.written)
    dispatcher._cache = _cache(folder)(one.written)
    return dispatcher


def _cache(folder: Path) -> type[FunctionCache]:
    """The compiler's cache, in our folder: the name of the folder says all that has to agree."""

    class Here(_CacheLocator):
        def __init__(self, function: Any, file: str) -> None:
            self._py_file = file

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.name if not folder.name.startswith(".") else folder.name[1:].rpartition("-")[0]

        def get_disambiguator(self) -> str:
            return PROCESSOR

        @classmethod
        def from_function(cls, function: Any, file: str) -> "Here":
            return cls(function, file)

    class Code(CompileResultCacheImpl):
        _locator_classes = [Here]  # noqa: RUF012  # as the class that it is of has it

    class Cache(FunctionCache):
        _impl_class = Code

    return Cache
