"""What is typed at `fairway join`, read: labels, taints, kinds, times."""

import re
from collections.abc import Collection
from typing import Literal, cast

import msgspec

from fairway.client.failure import USAGE, Failure
from fairway.domain.tenancy.profile import BASELINE, LEVELS, reserved
from fairway.join import rights
from fairway.join.batch_resources import objects
from fairway.runtime.views.members import Facts, Reserve
from fairway.wire.capacity import Taint
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.reading.names import is_label_key, is_label_value, is_name, is_namespace

_RESERVE = ("auto", "reservations", "placeholders", "ledger")
_MODES = ("push", "pull")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# TokenRequest refuses shorter lives.
_LEAST_S = 600
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


# What a join with one of these asks for is all there is to say: anything else would be passed over.
_ALONE = {
    "renew": (
        ("labels", "taints", "reserve", "mode", "nodes"),
        "--renew keeps what was said of the cluster",
        "leave --renew out to say it anew",
    ),
    "confirm_capacity": (
        (
            "labels",
            "taints",
            "reserve",
            "mode",
            "nodes",
            "kinds",
            "token_life",
            "adopt_namespaces",
            "max_pod_security",
            "placeholder_image",
            "batch_priority_class",
            "renew",
            "dry_run",
        ),
        "--confirm-capacity confirms what the cluster has, and does nothing else",
        "ask for the other in a second join",
    ),
    "dry_run": (
        ("renew",),
        "--dry-run asks nobody, and so does not know what was said before",
        "say with it what this depends on: --reserve, --mode, --max-pod-security, --placeholder-image, "
        "--batch-priority-class",
    ),
}


def check_together(given: Collection[str]) -> None:
    """Failure names an option that would be passed over because of another; `given` are those that were typed."""
    for alone, (others, text, remedy) in _ALONE.items():
        lost = [f"--{other.replace('_', '-')}" for other in others if alone in given and other in given]
        if lost:
            raise Failure(USAGE, f"{text}, so it goes without {', '.join(lost)}", remedy)


def image_of(text: str) -> str:
    if text and not _IMAGE.fullmatch(text):
        remedy = "write it as registry.example.org/pause:3.10"
        raise Failure(USAGE, f"--placeholder-image {text!r} names no image", remedy)
    return text


def facts_of(said: tuple[str, str], reserve: str, mode: str, level: str, nodes: int) -> Facts:
    """`said` are the labels and the taints; `nodes` how many of the cluster's count at most. Failure names the
    word that is wrong."""
    if reserve not in _RESERVE:
        raise Failure(USAGE, f"--reserve {reserve} is not known", f"use {', '.join(_RESERVE)}")
    if mode not in _MODES:
        raise Failure(USAGE, f"--mode {mode} is not known", f"use {' or '.join(_MODES)}")
    labels = dict(map(_label, _words(said[0])))
    taints = tuple(map(_taint, _words(said[1])))
    way = cast(Literal["push", "pull"], mode)
    highest = level_of(level) or BASELINE
    return Facts(labels, taints, cast(Reserve, reserve), way, max_pod_security=highest, nodes=nodes)


def class_of(text: str) -> str:
    if text and not is_name(text):
        raise Failure(USAGE, f"--batch-priority-class {text!r} names no PriorityClass", "write it as fairway-batch")
    return text


def page(facts: Facts, placeholder_image: str, batch_class: str) -> str:
    """What would be applied in the member, as YAML."""
    facts = msgspec.structs.replace(facts, placeholder_image=placeholder_image, batch_class=batch_class)
    return rights.page(facts) + objects.page(batch_class)


def level_of(text: str) -> str:
    if text and text not in LEVELS:
        raise Failure(USAGE, f"--max-pod-security {text} is not known", f"use {', '.join(LEVELS)}")
    return text


def namespaces_of(text: str) -> tuple[str, ...]:
    """Those to be adopted. Failure names the one that cannot be."""
    found = tuple(dict.fromkeys(_words(text)))
    for name in found:
        if not is_namespace(name):
            raise Failure(USAGE, f"{name!r} is no namespace", "write names, with commas between them")
        if reserved(name):
            raise Failure(USAGE, f"namespace {name} is the system's", "no tenant's job may be there")
    return found


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _label(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not is_label_key(key) or not is_label_value(value):
        raise Failure(USAGE, f"{word!r} is no label", "write key=value with letters, digits, -, _ and .")
    return key, value


def _taint(word: str) -> Taint:
    head, _, effect = word.rpartition(":")
    key, _, value = head.partition("=")
    if effect not in _EFFECTS or not is_label_key(key) or (value and not is_label_value(value)):
        raise Failure(USAGE, f"{word!r} is no taint", f"write key=value:EFFECT with {', '.join(_EFFECTS)}")
    return Taint(key, effect, value)


def kinds_of(text: str) -> tuple[str, ...]:
    """Full keys; a plain name means each of its versions that Fairway knows."""
    found: list[str] = []
    for word in _words(text):
        keys = [key for key in KINDS if word in (key, key.partition(".")[0])]
        if not keys:
            known = ", ".join(sorted({key.partition(".")[0] for key in KINDS}))
            raise Failure(USAGE, f"{word} is no kind of job that Fairway knows", f"use {known}")
        found += keys
    return tuple(found)


def seconds_of(text: str) -> int:
    """0 when nothing is said."""
    if not text:
        return 0
    found = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    if not found:
        raise Failure(USAGE, f"{text!r} is no time", "write it as 720h")
    seconds = int(found[1]) * _SECONDS[found[2]]
    if not _LEAST_S <= seconds < 2**31:
        raise Failure(USAGE, f"a token of {text} is too short or too long", "ask for ten minutes or more")
    return seconds
