"""What a member in pull mode says of its objects: noted, so that what vanished in a gap can be told, and believed as
far as it has the form of an object."""

from typing import Any

import msgspec

from fairway.adapters.vanished_objects import Told, remember, vanished
from fairway.domain.text.decoding import decoded
from fairway.domain.text.foreign_json import readable
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import Unreachable

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_object = msgspec.json.Decoder(Json).decode


def sound(manifest: Json | None, cluster: str) -> Json | None:
    """The same, cut where it is nested too deeply. Unreachable for what is no manifest, or no JSON could say."""
    if manifest is None:
        return None
    try:
        text = _encode(manifest)
        cut = readable(text)
        return decoded(_object, cut) if cut is not text or not isinstance(manifest, dict) else manifest
    except (RecursionError, TypeError, ValueError, msgspec.MsgspecError) as error:
        raise Unreachable(f"{cluster}: an answer that makes no sense: {error}") from error


def noted(change: Change, told: Told, cluster: str) -> list[Change]:
    """What is to be told of a change. Unreachable when it makes no sense."""
    if change.synced:
        return [change]
    try:
        manifest = sound(change.manifest, cluster)
        if manifest is not change.manifest:
            change = msgspec.structs.replace(change, manifest=manifest)
        key = (change.namespace, change.name)
        if change.gone:
            told.pop(key, None)
            return [change]
        former = remember(told, key, change.manifest.get("metadata") or {})
        return [change] if former is None else [vanished(change.kind, key, former), change]
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreachable(f"{cluster}: an object that makes no sense: {error!r}") from error
