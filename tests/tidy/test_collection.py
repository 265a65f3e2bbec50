"""Every test can be read: those on real Kubernetes run last, and should not be found broken only then."""

import subprocess
import sys

from tests.tidy.source import ROOT


def test_the_tests_on_real_kubernetes_can_be_read() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "tests/kubernetes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
