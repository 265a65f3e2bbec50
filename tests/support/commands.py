"""Commands as a person types them, in this process: a process of its own takes a second to import what it needs."""

import os
from contextlib import chdir
from pathlib import Path

import structlog
from typer.testing import CliRunner, Result

from fairway.cli.main import app
from fairway.client import kubectl_credential
from fairway.client.hub_address import arguments, asked


def command(*words: str, folder: Path | None = None, program: str = "fairway", **settings: str) -> Result:
    """In this folder, with nothing in the environment that would help it. Its log goes where the runner listens, and
    after it nobody would."""
    helps: dict[str, str | None] = {name: None for name in os.environ if name.startswith(("FAIRWAY", "KUBE"))}
    home = {"HOME": str(folder)} if folder else {}
    try:
        given = arguments(program, words)
        with chdir(folder or Path.cwd()):
            done = CliRunner().invoke(app, given, env={**helps, **home, "NO_COLOR": "1", **settings})
    finally:
        structlog.reset_defaults()
        # What a process of one command remembers of kubectl.
        kubectl_credential._config.cache_clear()
        asked.kubeconfig = ""
        asked.context = ""
        asked.plugin = False
        asked.everywhere = False
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done
