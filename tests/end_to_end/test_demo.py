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
# What the commands answer of each act, in this order: who waited, by which right it claimed, who had to go, where and
# why, and that it came back; and who went for whom in what `fairway evictions` lists.
RECLAIM = (
    "fairway story team-lender/within-its-min",
    "blocked +Waits: [^\n]*quota root/lent has 0 of 8 cpu left and the job needs 4",
    r"claimed +Claims room that others have \(claim \d+\), by the guaranteed share of quota root/lent/lender;",
    "nominated +Room on [^\n]*: 1 attempt must leave first;",
    "running +Running in ",
    "fairway why team-borrower/borrows-all",
    r"Succeeded +It ran [^\n]*, in attempt 2\.",
    "Attempt 1 in (?P<cluster>west|south) ended after [^\n]*: Its room is for a job of quota root/lent/lender that is "
    r"within its guaranteed share \((?P<claim>claim-\w+)\); it was borrowed: root/lent/borrower used 8 of its min of 0 "
    r"cpu; it keeps its place, and no attempt was spent\.",
    "fairway evictions",
    r"Reclaim +team-borrower/borrows-all-\w+ +1 +(?P=cluster) +root/lent/lender +within-its-min-\w+ +(?P=claim) ",
)
PREEMPTION = (
    "fairway story team-shift/emergency",
    "blocked +Waits: [^\n]*quota root/shift has 0 of 8 cpu left and the job needs 4",
    r"claimed +Claims room that others have \(claim \d+\), by its priority 10000;",
    "nominated +Room on [^\n]*: 1 attempt must leave first;",
    "running +Running in ",
    "fairway why team-shift/overnight",
    r"Succeeded +It ran [^\n]*, in attempt 2\.",
    "Attempt 1 in (?P<cluster>west|south) ended after [^\n]*: Its room is for a job of quota root/shift with priority "
    r"10000 \((?P<claim>claim-\w+)\); this one has 100; it keeps its place, and no attempt was spent\.",
    "fairway evictions",
    r"Preemption +team-shift/overnight-\w+ +1 +(?P=cluster) +root/shift +emergency-\w+ +(?P=claim) .* 10000 over 100",
)

# A step that the store refused is decided anew: on a slow machine some decisions come to nothing.
DECIDED_AGAIN = r"decisions decided again( \([1-9][0-9]* more came to nothing\))?: all identical\n"


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
    assert re.search(r"all: [0-9]{3,} " + DECIDED_AGAIN, out), out
    assert re.search(r" hub: [1-9][0-9]* " + DECIDED_AGAIN, out), out
    assert "node by node 0 fit, by sum of free resources 2 would" in out
    assert "Attempt 2" in out
    assert re.search(r"team-lender/within-its-min +claimed \(Reclaim\)\n", out)
    assert re.search(r"team-shift/emergency +nominated in (west|south)\n", out)
    told = out[out.index("\nA tenant whose min is 4 cores gets them back from one that has borrowed all 8\n") :]
    for act in (RECLAIM, PREEMPTION):
        assert re.search(".*".join(act), told, re.DOTALL), told
    _, _, listed = told.partition("fairway evictions\n")
    assert listed.count("claim-") == 2, "no other job had to go"
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
