"""Query parameters, read as a Go server reads them."""

from collections.abc import Mapping

from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.errors import bad_request

# What strconv.ParseBool takes for true: client libraries send True, kubectl true.
_TRUE = ("1", "t", "T", "true", "TRUE", "True")


def flag(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "") in _TRUE


def seconds(query: Mapping[str, str], name: str) -> float:
    """0 when it is not given; 400 when it is no number."""
    try:
        return float(query.get(name) or 0)
    except ValueError:
        raise bad_request(f"{name} {query[name]!r} is not a number of seconds") from None


def number(query: Mapping[str, str], name: str) -> int:
    """0 when it is not given; 400 when it is no number."""
    text = query.get(name, "")
    if text and not is_whole(text):
        raise bad_request(f"{name} {text!r} is not a number")
    return int(text or 0)
