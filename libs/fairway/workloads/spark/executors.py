"""How many executors a SparkApplication begins with, keeps, and may ever have."""

from fairway.domain.text.digits import is_whole
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.pods import MOST_PODS, read_replicas

_DYNAMIC = "spark.dynamicAllocation."


def _dynamic(spec: Field) -> bool:
    """Spark reads a word in any case."""
    conf = spec["sparkConf"][f"{_DYNAMIC}enabled"].value
    return spec["dynamicAllocation"]["enabled"].flag() or str(conf).strip().lower() == "true"


def most_executors(spec: Field) -> int:
    """How many executors there may ever be at once."""
    start = executors(spec)
    if not _dynamic(spec):
        return start
    field = spec["dynamicAllocation"]["maxExecutors"]
    conf = spec["sparkConf"][f"{_DYNAMIC}maxExecutors"]
    if not field.given and not conf.given:
        field.wrong("is missing, so that Spark may ask for executors without end", "set it")
    # Which of the two counts depends on where dynamic allocation is switched on; the larger is enough for both.
    return max(start, read_replicas(field, 0), number(Field(None, spec.problems), conf, 0))


def kept(spec: Field, start: int) -> int:
    """How many executors there are as long as it runs: with dynamic allocation Spark gives idle ones back."""
    if not _dynamic(spec):
        return start
    return min(
        start, number(spec["dynamicAllocation"]["minExecutors"], spec["sparkConf"][_DYNAMIC + "minExecutors"], 0)
    )


def executors(spec: Field) -> int:
    """How many executors Spark asks for at its start."""
    dynamic = spec["dynamicAllocation"]
    conf = spec["sparkConf"]
    enabled = _dynamic(spec)
    asked = number(spec["executor"]["instances"], conf["spark.executor.instances"], 0 if enabled else 2)
    if not enabled:
        return asked
    return max(
        asked,
        *(number(dynamic[name], conf[_DYNAMIC + name], 0) for name in ("initialExecutors", "minExecutors")),
    )


def number(field: Field, conf: Field, default: int) -> int:
    """A number of executors; sparkConf holds it as text."""
    if field.given or not conf.given:
        return read_replicas(field, default)
    text = str(conf.value)
    if not is_whole(text, 9) or int(text) > MOST_PODS:
        conf.wrong(f"is {shown(conf.value)}", f"write a number from 0 to {MOST_PODS}")
        return default
    return int(text)
