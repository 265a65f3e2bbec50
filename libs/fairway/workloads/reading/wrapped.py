"""The objects that stand in an AppWrapper as they are, whatever it holds beside them."""

from typing import Any

WRAPPER = "AppWrapper"


def wrapped(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Of any manifest, valid or not: one of another kind has none."""
    spec = manifest.get("spec")
    components = spec.get("components") if manifest.get("kind") == WRAPPER and isinstance(spec, dict) else None
    listed = components if isinstance(components, list) else []
    templates = (one.get("template") for one in listed if isinstance(one, dict))
    return [one for one in templates if isinstance(one, dict)]
