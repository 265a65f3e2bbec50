"""What a gateway may answer to a command, and the answer made of it: read as far as it is known, refused where it is
something else. Whoever is asked may be no gateway at all, or a hostile one."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from fairway.client.failure import ERROR, Failure

T = TypeVar("T")


class Items(Struct, Generic[T], frozen=True, omit_defaults=True, rename={"resume": "continue"}):
    """A list, or a page of one."""

    items: tuple[T, ...]
    resume: str = ""


class _Work(Struct):
    name: str = ""


class _Spec(Struct):
    workload: _Work


class _Cause(Struct):
    code: str
    text: str
    field: str = ""
    remedy: str = ""


class _Problem(Struct):
    title: str = ""
    detail: str = ""
    code: str = ""
    job: str = ""
    reasons: tuple[_Cause, ...] = ()


class JobShape(Struct):
    """Of one job's row, what a command needs."""

    id: str
    state: str
    attempt: int = 0
    cluster: str = ""
    spec: _Spec | None = None
    why: _Cause | None = None


def decoded(body: bytes, verb: str, path: str, url: str) -> Any:
    """The answer as plain values, every field of it there. Raises Failure, which names who gave it."""
    try:
        return msgspec.to_builtins(msgspec.json.decode(body, type=_shape(verb, path)))
    except msgspec.ValidationError as error:
        raise _strange(url, f"with something else than the answer to {verb} {path[:80]}: {error}") from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise _strange(url, "with something that is not JSON, or is nested too deep") from None


def problem(body: bytes) -> dict[str, Any]:
    """The problem document of a refusal; empty when it is none. A proxy on the way may say less in one."""
    try:
        found: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(body, type=_Problem))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return found


def _strange(url: str, what: str) -> Failure:
    remedy = "is it Fairway, and of a version near this command's? name another address with --url or FAIRWAY_URL"
    return Failure(ERROR, f"{url} answered {what}", remedy)


def _shape(verb: str, path: str) -> Any:
    if verb == "POST":
        return _POSTED[path]()
    if verb == "DELETE":
        return _cancelled()
    if path in _LISTED:
        return _LISTED[path]()
    return _ASKED.get(path.rpartition("/")[2], lambda: JobShape)()


def _accepted() -> Any:
    from fairway.gateway.http.submit import Accepted

    return Accepted


def _taken() -> Any:
    from fairway.gateway.http.settings import Taken

    return Taken


def _batch() -> Any:
    from fairway.gateway.http.batch import BatchResult

    return BatchResult


def _cancelled() -> Any:
    from fairway.gateway.http.jobs import Cancelling

    return Cancelling


def _rows(name: str) -> Callable[[], Any]:
    def of() -> Any:
        from fairway.gateway.http import answers

        return Items[getattr(answers, name)]  # type: ignore[misc]  # one of its rows, by name

    return of


def _why() -> Any:
    from fairway.explain.why import Why

    return Why


def _story() -> Any:
    from fairway.explain.story import Story

    return Story


# By what is asked: made when it is asked, as most commands need one of them only.
_POSTED = {"/v1/jobs": _accepted, "/v1/jobs:batch": _batch, "/v1/settings": _taken}
_LISTED = {
    "/v1/jobs": _rows("JobRow"),
    "/v1/queues": _rows("QueueRow"),
    "/v1/quota": _rows("QuotaRow"),
    "/v1/clusters": _rows("ClusterRow"),
}
_ASKED = {"why": _why, "story": _story}
