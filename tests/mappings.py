"""The mappings in a value that was read from YAML or JSON, however deep."""

from typing import Any

Json = dict[str, Any]


def every_mapping(value: Any) -> list[Json]:
    """The value itself, if it is one, among them."""
    if isinstance(value, list):
        return [found for one in value for found in every_mapping(one)]
    if not isinstance(value, dict):
        return []
    return [value, *(found for one in value.values() for found in every_mapping(one))]
