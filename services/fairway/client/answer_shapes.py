"""What a gateway may answer to a command, and the answer made of it: read as far as it is known, refused where it is
something else. Whoever is asked may be no gateway at all, or a hostile one."""

from importlib import import_module
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
        return _found(_POSTED[path])
    if verb == "DELETE":
        return _found("fairway.gateway.http.jobs.Cancelling")
    if path in _LISTED:
        return Items[_found(_LISTED[path])]  # type: ignore[misc]  # a row, by name
    place, _, asked = path.rpartition("/")
    if place == "/v1/jobs":
        return JobShape
    return _found(_ASKED.get(asked) or _ONE[place])


def _found(name: str) -> Any:
    """Imported when it is asked for, as most commands need one of them only."""
    module, _, shape = name.rpartition(".")
    return getattr(import_module(module), shape)


_POSTED = {
    "/v1/jobs": "fairway.gateway.http.submit.Accepted",
    "/v1/jobs:batch": "fairway.gateway.http.batch.BatchResult",
    "/v1/settings": "fairway.gateway.http.settings.Taken",
}
_LISTED = {
    "/v1/jobs": "fairway.gateway.http.answers.JobRow",
    "/v1/queues": "fairway.gateway.http.answers.QueueRow",
    "/v1/quota": "fairway.gateway.quota_rows.QuotaRow",
    "/v1/clusters": "fairway.gateway.http.answers.ClusterRow",
    "/v1/dead-letters": "fairway.runtime.record.kept_letters.LetterLine",
}
_ASKED = {
    "why": "fairway.explain.why.Why",
    "story": "fairway.explain.story.Story",
    "manifest": "fairway.gateway.record.manifests.JobManifest",
}
_ONE = {"/v1/dead-letters": "fairway.gateway.record.dead_letters.Letter"}
