"""A small judge of what a metrics page says, as text: names, units, suffixes, HELP and TYPE, labels, no duplicates."""

import re
from collections import defaultdict

_SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)(?: (\S+))?')
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Of a histogram's series.
_PARTS = ("_bucket", "_sum", "_count")
# Words that name a unit which is not the base one, or an abbreviation of one.
_NOT_BASE = re.compile(r"_(ms|milliseconds|minutes|hours|days|kb|mb|kilobytes|megabytes|millicores|percent|secs)(_|$)")
_TIME = re.compile(r"_(duration|age|wait|lag|timestamp)(?=_|$)(?!\w*_seconds(_|$))")
# Of whom there are too many, or what is nobody's business.
_NEVER_A_LABEL = {"job", "job_id", "tenant", "user", "email", "pod", "message_id", "attempt"}


def complaints(page: str, prefix: str = "fairway_") -> list[str]:
    """What is wrong with a page in Prometheus' text format; nothing when it is fine."""
    families: dict[str, str] = {}
    helped: set[str] = set()
    series: set[tuple[str, str]] = set()
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    found = [] if page.endswith("\n") else ["the last line does not end"]
    for line in page.splitlines():
        if line.startswith("# HELP "):
            name, _, text = line[7:].partition(" ")
            found += [f"{name}: HELP twice"] if name in helped else []
            found += [] if text.endswith(".") or ";" in text else [f"{name}: HELP is no sentence: {text!r}"]
            helped.add(name)
        elif line.startswith("# TYPE "):
            name, _, kind = line[7:].partition(" ")
            found += [f"{name}: TYPE twice"] if name in families else []
            families[name] = kind
            found += _of_family(name, kind, prefix)
        elif not (match := _SAMPLE.fullmatch(line)):
            found.append(f"not a sample: {line!r}")
        else:
            name, given, value, _ = match.groups()
            family = _family_of(name, families)
            if family is None:
                found.append(f"{name}: a sample without TYPE before it")
                continue
            if (name, given or "") in series:
                found.append(f"{line}: twice")
            series.add((name, given or ""))
            pairs = dict(_LABEL.findall(given or ""))
            labels[family].add(frozenset(pairs.keys() - {"le"}))
            found += _of_sample(name, family, families[family], pairs, value)
    found += [f"{name}: no HELP" for name in families if name not in helped]
    found += [f"{name}: its series have different labels" for name, sets in labels.items() if len(sets) > 1]
    return found


def _family_of(sample: str, families: dict[str, str]) -> str | None:
    if sample in families:
        return sample
    names = (sample.removesuffix(part) for part in _PARTS if sample.endswith(part))
    return next((name for name in names if families.get(name) == "histogram"), None)


def _of_family(name: str, kind: str, prefix: str) -> list[str]:
    found = []
    if not name.startswith(prefix) or not _NAME.fullmatch(name):
        found.append(f"{name}: not {prefix} and lower case words")
    if (kind == "counter") != name.endswith("_total"):
        found.append(f"{name}: counters, and they alone, end with _total")
    if kind not in ("counter", "gauge", "histogram"):
        found.append(f"{name}: type {kind}")
    if kind == "histogram" and not name.endswith(("_seconds", "_bytes")):
        found.append(f"{name}: a histogram has its unit at the end")
    if name.endswith(_PARTS):
        found.append(f"{name}: ends as a series of a histogram does")
    if _NOT_BASE.search(name) or _TIME.search(name):
        found.append(f"{name}: times are in _seconds, sizes in _bytes")
    return found


def _of_sample(name: str, family: str, kind: str, labels: dict[str, str], value: str) -> list[str]:
    found = []
    if kind == "histogram" and (name == f"{family}_bucket") != ("le" in labels):
        found.append(f"{name}: the label le is that of buckets")
    for label in labels.keys() & _NEVER_A_LABEL:
        found.append(f"{name}: label {label} has no bound")
    for label, text in labels.items():
        if not _NAME.fullmatch(label) or label.startswith("__"):
            found.append(f"{name}: label {label} is no lower case word")
        if not text:
            found.append(f"{name}: label {label} is empty, which is as good as none")
    try:
        number = float(value)
    except ValueError:
        return [*found, f"{name}: {value!r} is no number"]
    if kind != "gauge" and number < 0:
        found.append(f"{name}: {kind} below 0")
    return found
