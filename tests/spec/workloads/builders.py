"""Small manifests that say only what matters."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from fairway.wire.reasons import Refused


def pod(**spec: Any) -> dict[str, Any]:
    """A pod template with one container, and `spec` beside it."""
    return {"spec": {"containers": [{"name": "main"}], **spec}}


def batch_job(name: str = "one", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-data", **metadata},
        "spec": {"template": pod()},
    }


def with_at(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The manifest with `value` written at a dotted path."""
    *way, last = path.split(".")
    here = manifest
    for key in way:
        here = here.setdefault(key, {})
    here[last] = value
    return manifest


def refusal(of: Callable[[], Any]) -> dict[str, str]:
    """The reasons with which something is refused: field -> text."""
    with pytest.raises(Refused) as caught:
        of()
    assert all(reason.text and reason.remedy for reason in caught.value.reasons)
    return {reason.field: reason.text for reason in caught.value.reasons}


def work(of: Callable[[], Any]) -> int:
    """How many calls it makes: much the same on every machine, however busy. Garbage is collected before, as others are
    called back when it is."""
    made = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        of()
    finally:
        sys.setprofile(before)
        gc.enable()
    return made
