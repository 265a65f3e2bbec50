"""The demo keeps its promises, and leaves nothing behind however it ends."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil

LIMIT_S = 150
DEMO = [sys.executable, "-m", "fairway.cli.main", "demo"]


def start(temporary: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "TMPDIR": str(temporary)}
    pipe = subprocess.PIPE
    return subprocess.Popen(DEMO, env=env, stdout=pipe, stderr=pipe, text=True)


def test_every_job_becomes_what_was_promised(tmp_path: Path) -> None:
    with start(tmp_path) as demo:
        out, err = demo.communicate(timeout=LIMIT_S)
    assert demo.returncode == 0, out + err
    assert "All 31 jobs became what was promised" in out
    assert "  no   " not in out
    assert "  yes  all that was decided is decided again from the record, and is the same" in out
    assert re.search(r"all: [0-9]{3} decisions decided again: all identical\n", out)
    assert re.search(r" hub: [1-9][0-9]* decisions decided again: all identical\n", out)
    assert "node by node 0 fit, by sum of free resources 2 would" in out
    assert "Attempt 2" in out
    assert list(tmp_path.iterdir()) == []


def test_after_ctrl_c_nothing_is_left_running(tmp_path: Path) -> None:
    with start(tmp_path) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "running in" in line:
                break
        family = psutil.Process(demo.pid).children(recursive=True)
        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate(timeout=LIMIT_S)
    assert demo.returncode == 130, err
    assert "nothing of the demo is left running" in err
    assert len(family) >= 4
    assert [one for one in family if one.is_running()] == []
    assert list(tmp_path.iterdir()) == []
