"""Logs: one JSON object a line on standard error, so that data on standard output stays clean. A line about a job has
service, job, tenant, attempt and cluster, as far as they are known; none has a secret."""

import logging
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from fairway.runtime.spoken_of import about_now

LEVELS = ("debug", "info", "warning", "error", "critical")
LEFT_OUT = "[left out: it looks like a secret]"
# A key that is a secret by its name; `secret_name` and `token_file` are none.
_KEYS = re.compile(
    r"(^|[_-])(password|passwd|passphrase|token|secret|authorization|cookie|credentials?|api[_-]?key|private[_-]?key"
    r"|kubeconfig|manifest)$",
    re.IGNORECASE,
)
# Values that are secrets whatever their key: bearer tokens, JSON web tokens, keys in PEM, passwords in addresses, and
# what stands behind such a word.
_VALUES = (
    re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),
    re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{6,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL),
    re.compile(
        r"(?i)(?<![\w-])(?:password|passwd|passphrase|secret|token|api[_-]?key)[\"']?\s*[=:]\s*[\"']?[^\s\"',;}]{6,}"
    ),
)
_DEEP = 6
# What asyncio says whenever a server closes a connection over TLS: nats-py begins TLS on a stream that does not know of
# it. The connection is closed all the same, and nobody can do anything about it.
_NO_NEWS = "returning true from eof_received() has no effect when using ssl"


def configure() -> None:
    """ValueError when FAIRWAY_LOG_LEVEL is none."""
    level = log_level(os.environ.get("FAIRWAY_LOG_LEVEL", ""))
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    logging.getLogger("asyncio").addFilter(is_news)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            with_what_it_is_about,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            without_secrets,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def beside_output() -> None:
    """For a command whose output somebody reads: lines for people, where they are not in its way. Standard error is the
    one of that moment: a test has another one each time."""
    structlog.configure(logger_factory=lambda *given: structlog.PrintLogger(sys.stderr))


def is_news(record: logging.LogRecord) -> bool:
    return record.getMessage() != _NO_NEWS


def log_level(text: str) -> int:
    if text.lower() not in ("", *LEVELS):
        raise ValueError(f"FAIRWAY_LOG_LEVEL={text[:40]!r} is no level; use one of {', '.join(LEVELS)}")
    return int(getattr(logging, (text or "info").upper()))


def with_what_it_is_about(logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """What the line itself says counts before what is known of the task."""
    return {**about_now(), **line}


def without_secrets(logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The last processor before a line is written."""
    return {key: _shown(key, value) for key, value in line.items()}


def _shown(key: str, value: Any, depth: int = 0) -> Any:
    if depth > _DEEP or (_KEYS.search(key) and value not in (None, "")):
        return LEFT_OUT
    if isinstance(value, Mapping):
        return {str(name): _shown(str(name), one, depth + 1) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown("", one, depth + 1) for one in value]
    if isinstance(value, bool | int | float | None):
        return value
    text = value if isinstance(value, str) else repr(value)
    for pattern in _VALUES:
        text = pattern.sub(LEFT_OUT, text)
    return text
