"""Keeps a command alive as long as another process lives: `python keeper.py PID LOG COMMAND ...`.

The workers of a test run share one fleet. None of them outlives the others for certain, so the fleet belongs to the
run: this process starts it, and ends it (SIGINT, then SIGKILL) when PID is gone, or when it is told to by SIGTERM.
"""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from fairway.lab.processes.die_with_parent import guarded

_GRACE_S = 60


def main(argv: list[str]) -> None:
    owner = os.pidfd_open(int(argv[0]))
    told, tell = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(tell, b"!"))
    with (
        Path(argv[1]).open("ab") as log,
        subprocess.Popen(
            guarded(*argv[2:]), stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        ) as fleet,
    ):
        child = os.pidfd_open(fleet.pid)
        select.select([owner, told, child], [], [])
        fleet.send_signal(signal.SIGINT)
        try:
            fleet.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            fleet.kill()


if __name__ == "__main__":
    main(sys.argv[1:])
