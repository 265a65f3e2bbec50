"""Refusals, as the Status object that Kubernetes answers (k8s.io/apimachinery, pkg/api/errors)."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


class ApiError(Exception):
    """An answer other than success. `details` is the Status' details, `code` the HTTP status."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}

    def body(self) -> Json:
        status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            **({"reason": self.reason} if self.reason else {}),
            "code": self.code,
        }
        if self.details:
            status["details"] = self.details
        return status


def about(storage: str, name: str) -> Json:
    """Status details that name an object; `storage` is `plural.group`."""
    plural, _, group = storage.partition(".")
    details = {"name": name, "group": group, "kind": plural}
    return {key: value for key, value in details.items() if value}


def not_found(storage: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{storage} "{name}" not found', about(storage, name))


class NoSuchPath(Exception):
    """Nothing is served below that path: the answer is plain text, by no API."""


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def already_exists(storage: str, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{storage} "{name}" already exists', about(storage, name))


def conflict(storage: str, name: str, why: str) -> ApiError:
    text = f'Operation cannot be fulfilled on {storage} "{name}": {why}'
    return ApiError(409, "Conflict", text, about(storage, name))


def modified(storage: str, name: str) -> ApiError:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(storage, name, why)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def invalid(kind: str, name: str, causes: Sequence[tuple[str, str]]) -> ApiError:
    """422 with one cause per (field, message)."""
    text = ", ".join(f"{field}: {message}" for field, message in causes)
    listed = [{"reason": "FieldValueInvalid", "message": message, "field": field} for field, message in causes]
    group_kind, _, group = kind.partition(".")
    details: Json = {"name": name, "kind": group_kind, "causes": listed}
    if group:
        details["group"] = group
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)
