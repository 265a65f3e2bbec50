"""Placement's machine code in this process: loaded when it starts, and made anew where it is missing or damaged.

Nobody waits for a compiler: until there is code, choices are the same, and slower.
"""

from functools import cache
from threading import Thread

import structlog

log = structlog.get_logger()
_REMEDY = "run `python -m fairway.placement.loops.build` where Fairway is installed, as `make install` does"


@cache
def prepare() -> None:
    """To be called by every process that places, before its first choice: the compiler's library is loaded here."""
    loaded()


def loaded() -> Thread | None:
    """Who mends what is missing, if anything is."""
    from fairway.placement.loops import machine_code

    cause = machine_code.load()
    if not cause:
        return None
    log.warning("uncompiled", service="placement", cause=cause, remedy=_REMEDY)
    mending = Thread(target=_mend, name="placement compiler", daemon=True)
    mending.start()
    return mending


def _mend() -> None:
    """The compiler is another process, so that this one goes on meanwhile."""
    from fairway.placement.loops import machine_code

    cause = machine_code.build_apart() or machine_code.load()
    if cause:
        log.error("uncompiled", service="placement", cause=cause, remedy=_REMEDY)
    else:
        log.info("compiled", service="placement")
