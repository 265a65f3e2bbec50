"""Plain kubectl works against a simulated hub and member."""

import asyncio
import json
from pathlib import Path

import pytest

from fairway.lab.kubesim import KubeSim, NodeGroup
from tests.support.kubesim import GPU_NODE, PATIENCE, FixedClock, torch


class Kubectl:
    def __init__(self, program: Path, folder: Path, config: dict[str, object]) -> None:
        self._program = program
        self._folder = folder
        self._config = folder / "config"
        self._config.write_text(json.dumps(config))

    async def __call__(self, *words: str) -> tuple[int, str]:
        """(exit code, standard output and error). HOME is the test's, so nobody's own configuration is read."""
        process = await asyncio.create_subprocess_exec(
            str(self._program),
            "--kubeconfig",
            str(self._config),
            "--cache-dir",
            str(self._folder / "cache"),
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            stdin=asyncio.subprocess.DEVNULL,
            env={"HOME": str(self._folder), "PATH": "/usr/bin:/bin"},
        )
        output, _ = await asyncio.wait_for(process.communicate(), 3 * PATIENCE)
        assert process.returncode is not None
        return process.returncode, output.decode()


@pytest.mark.parametrize("controllers", [pytest.param(False, id="a hub"), pytest.param(True, id="a member")])
async def test_kubectl_applies_reads_changes_and_deletes(controllers: bool, kubectl: Path, tmp_path: Path) -> None:
    sim = KubeSim(FixedClock())
    await sim.start_cluster("one", nodes=[NodeGroup(2, "gpu", GPU_NODE)], controllers=controllers)
    run = Kubectl(kubectl, tmp_path, sim.kubeconfig("one"))
    manifest = tmp_path / "job.json"
    manifest.write_text(json.dumps(torch(run_for="100ms")))
    labelled = '{"metadata":{"labels":{"l":"m"}}}'
    steps = [
        (("apply", "-f", str(manifest)), "pytorchjob.kubeflow.org/a created"),
        (("apply", "-f", str(manifest)), "pytorchjob.kubeflow.org/a unchanged"),
        (("apply", "--server-side", "-f", str(manifest)), "serverside-applied"),
        (("-n", "team-a", "get", "pytorchjobs"), "NAME"),
        (("-n", "team-a", "get", "pytorchjob", "a", "-o", "yaml"), "kind: PyTorchJob"),
        (("-n", "team-a", "describe", "pytorchjob", "a"), "Pytorch Replica Specs"),
        (("-n", "team-a", "annotate", "pytorchjob", "a", "x=y"), "annotated"),
        (("-n", "team-a", "patch", "pytorchjob", "a", "--type=merge", "-p", labelled), "patched"),
        (("get", "nodes"), "gpu-1"),
        (("create", "namespace", "other"), "created"),
        (("-n", "team-a", "get", "pytorchjob", "none"), "NotFound"),
    ]
    if controllers:
        steps.append((("-n", "team-a", "wait", "--for=condition=Succeeded", "pytorchjob/a"), "condition met"))
    steps.append((("-n", "team-a", "delete", "pytorchjob", "a"), "deleted"))
    try:
        for words, want in steps:
            code, told = await run(*words)
            assert want in told, (words, told)
            assert code == (1 if want == "NotFound" else 0)
    finally:
        await sim.stop()
