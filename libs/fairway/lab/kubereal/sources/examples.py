"""The example jobs that operators publish with their sources, and Argo's schema: fetched once, for tests of what honest
jobs look like. They lie in the cache beside what was built, because Go's module cache may be cleaned."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from fairway.lab.kubereal.sources.toolchain import environment, go

# By name: the Go module, and the checksum of its sources as a go.sum has it. Kueue alone is built nowhere here.
MODULES = {
    "training-operator 1.8.1": (
        "github.com/kubeflow/training-operator@v1.8.1",
        "h1:mVvoBSCInbMBX0gGSn4+Ihj3ycwoLO1iEAw+0qPhQfc=",
    ),
    "spark-operator 2.3.0": (
        "github.com/kubeflow/spark-operator/v2@v2.3.0",
        "h1:cYN/331gwkdZ0S/ai72JQoUv7UK52O2OQOWFpl8XhPc=",
    ),
    "volcano 1.10.0": ("volcano.sh/volcano@v1.10.0", "h1:+GzQinGgeV0j58WpWpxByOXgF+YfUPW55zghM8GqjF0="),
    "argo 3.6.5": (
        "github.com/argoproj/argo-workflows/v3@v3.6.5",
        "h1:0dvQr+CrhYgCc7ZJ4ZxusLVL/LKwHnpkT1lw/BP4+W4=",
    ),
    "jobset 0.8.0": ("sigs.k8s.io/jobset@v0.8.0", "h1:80cJcPld+IMdKFOqzEW4et3Y6lGAPcP8YmBZ+aiKGYA="),
    "appwrapper 1.2.0": (
        "github.com/project-codeflare/appwrapper@v1.2.0",
        "h1:MvenqEV/NuNOoq9SmttRABw0Yueiu8p3S0kFOybYeZo=",
    ),
    "lws 0.7.0": ("sigs.k8s.io/lws@v0.7.0", "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8="),
    "ray-operator 1.3.2": (
        "github.com/ray-project/kuberay/ray-operator@v1.3.2",
        "h1:3tDr1WtLS8WgOg/PVvyokFFsCVuh44SsjPdtlOrHDY4=",
    ),
    "training-operator 1.9.2": (
        "github.com/kubeflow/training-operator@v1.9.2",
        "h1:w5McwkEb7J5QFRo8b8zR9DrgyLHNU2u03Srr9eyLJtc=",
    ),
    "kueue 0.13.2": ("sigs.k8s.io/kueue@v0.13.2", "h1:ih/QusQiKJASxClmhZQkRElglOyRqi3LHV8g1M0FqYA="),
}
_SCHEMA = "api/jsonschema/schema.json"
# Raise it when other files are wanted.
_RECIPE = "2"


class NotFetched(Exception):
    """A module that cannot be had, or that is another one than was pinned."""


def folder(cache: Path) -> Path:
    return cache / f"examples-{sha256(repr((_RECIPE, MODULES)).encode()).hexdigest()[:16]}"


def fetch(cache: Path, say: Callable[[str], None]) -> None:
    """Raises NotFetched, or NoGo when there is nothing to fetch with. What is under the final name is whole."""
    if folder(cache).is_dir():
        return
    say("the examples that operators publish: fetching ...")
    draft = folder(cache).with_suffix(".draft")
    for old in cache.glob("examples-*"):
        shutil.rmtree(old)
    for name, (module, checksum) in MODULES.items():
        source = _source(module, checksum)
        for path in _wanted(source):
            copy = draft / name / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    draft.rename(folder(cache))


def _source(module: str, checksum: str) -> Path:
    program = go()
    command = [str(program), "mod", "download", "-json", module]
    # Outside of any module of ours: what is asked for is nobody's dependency.
    env = environment(program) | {"GOFLAGS": "", "GOWORK": "off"}
    done = subprocess.run(command, cwd=program.anchor, env=env, capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = {}
    if "Dir" not in said:
        cause = said.get("Error") or done.stderr.strip()[-500:]
        raise NotFetched(f"{module} cannot be fetched: {cause}; name with GOPROXY where Go modules are to be had")
    if said["Sum"] != checksum:
        text = f"{module} has the checksum {said['Sum']} in place of {checksum}"
        raise NotFetched(f"{text}; empty Go's module cache, and do not take modules from where GOPROXY says")
    return Path(said["Dir"])


def is_example(path: Path) -> bool:
    """Of a path below a module's sources."""
    return any(part.startswith(("example", "sample")) for part in path.parts[:-1])


def _wanted(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*.yaml")):
        if is_example(path.relative_to(source)):
            yield path
    if (source / _SCHEMA).exists():
        yield source / _SCHEMA
