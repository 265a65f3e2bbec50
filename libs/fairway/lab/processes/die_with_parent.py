"""Run a program that dies with its parent, and whose files are its owner's alone:
`python -I -S die_with_parent.py PARENT_PID PROGRAM ARG...` (Linux).

A script of its own instead of a `preexec_fn`, which is not safe in a process with threads. `execv` keeps the
process id and the wish (prctl(2): PR_SET_PDEATHSIG survives execve), so the caller sees only the program.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def guarded(*command: object) -> list[str]:
    """The command line that runs a program so, as a child of the caller."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *map(str, command)]


def main(argv: list[str]) -> None:
    """`argv`: process id of the parent, absolute path of the program, its arguments. Does not return."""
    parent = int(argv[0])
    program = argv[1]
    os.umask(0o077)  # what it writes may hold secrets: logs, messages, keys
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # The parent died before the wish was made: no signal will ever come.
        os._exit(1)
    os.execv(program, argv[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
