"""Fairway as it was before it sealed what it applies and kept the uid of it:
`python -m tests.faults.arena.former_version ARGS`."""

from typing import Any

import fairway.domain.fold
import fairway.propagator.member_calls
from fairway.cli.main import main
from fairway.domain.attempts.attempt import newest_with


def _unsealed(key: bytes, spot: Any, attempt: Any, manifest: Any) -> Any:
    return manifest


def _without_uid(attempts: Any, **changes: Any) -> Any:
    changes.pop("uid", None)
    return newest_with(attempts, **changes)


if __name__ == "__main__":
    for module, name, former in (
        (fairway.propagator.member_calls, "sealed", _unsealed),
        (fairway.domain.fold, "newest_with", _without_uid),
    ):
        getattr(module, name)  # it has to be there, or nothing would be as it was
        setattr(module, name, former)
    main()
