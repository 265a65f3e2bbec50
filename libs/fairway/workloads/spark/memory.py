"""Memory of a Spark pod, as Spark computes it (MiB, rounded down at each step)."""

import re
from decimal import Decimal

from fairway.domain.resources import LARGEST
from fairway.workloads.reading.fields import Field, shown

MIB = 2**20
# Spark: MEMORY_OVERHEAD_MIN_MIB; MEMORY_OVERHEAD_FACTOR for the JVM, and for Python and R.
LEAST_OVERHEAD_MIB = 384
JVM_FACTOR = Decimal("0.1")
OTHER_FACTOR = Decimal("0.4")
_BYTES = re.compile(r"([0-9]{1,15})\s*(?:([kmgtp])b?|(b))?", re.IGNORECASE | re.ASCII)
# As Java reads one; Decimal takes digits of every alphabet, and underscores.
_FACTOR = re.compile(r"([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?")
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}


def pod_memory(spec: Field, role: str) -> int:
    """Bytes of a driver or executor pod: heap + overhead, + PySpark's and off-heap memory for executors."""
    field = spec[role]
    conf = spec["sparkConf"]
    heap = _mib(_first(field["memory"], conf[f"spark.{role}.memory"]), 1024)
    overhead = _first(field["memoryOverhead"], conf[f"spark.{role}.memoryOverhead"])
    more = _mib(overhead, 0) if overhead.given else max(int(heap * _factor(spec, role)), LEAST_OVERHEAD_MIB)
    total = heap + more
    if role == "executor":
        if spec["type"].value == "Python":
            total += _mib(conf["spark.executor.pyspark.memory"], 0)
        if conf["spark.memory.offHeap.enabled"].value in ("true", True):
            total += _mib(conf["spark.memory.offHeap.size"], 0, bare=1)
    if total * MIB > LARGEST:
        field["memory"].wrong("is more than any cluster can hold (2^63-1 bytes)", "check the suffix")
        return 0
    return total * MIB


def _factor(spec: Field, role: str) -> Decimal:
    """A role's own in sparkConf, else the one for both: in sparkConf, which spark-submit reads later, else
    spec.memoryOverheadFactor; else by language."""
    conf = spec["sparkConf"]
    named = _first(conf[f"spark.{role}.memoryOverheadFactor"], conf["spark.kubernetes.memoryOverheadFactor"])
    field = _first(named, spec["memoryOverheadFactor"])
    language = spec["type"].choice("Scala", "Java", "Python", "R")
    if not field.given:
        return JVM_FACTOR if language in ("Java", "Scala") else OTHER_FACTOR
    text = field.text().strip()
    factor = Decimal(text) if _FACTOR.fullmatch(text) else None
    if factor is None or factor > 100:
        field.wrong(f"is {shown(field.value)}, not a factor", 'write a number from 0 to 100 in quotes, such as "0.1"')
        return JVM_FACTOR
    return factor


def _first(one: Field, other: Field) -> Field:
    return one if one.given else other


def _mib(field: Field, default: int, bare: int = MIB) -> int:
    """A Java memory string in whole MiB; without a suffix it counts `bare` bytes, which is MiB for most
    settings."""
    if not field.given:
        return default
    match = _BYTES.fullmatch(field.text().strip())
    if not match:
        field.wrong(
            f"is {shown(field.value)}, not a memory size of Spark",
            "write a whole number with k, m, g or t, such as 512m",
        )
        return default
    number, unit, plain = match.groups()
    size = _UNITS[unit.lower()] if unit else 1 if plain else bare
    return int(number) * size // MIB
