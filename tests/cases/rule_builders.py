"""How a rule is written down: a job that says what a tenant may not, its refusal, and what would allow it."""

import re
from typing import Any

from msgspec import Struct

from fairway.domain.tenancy.profile import PRIVILEGED
from tests.cases.good_jobs import spark, workflow
from tests.cases.hostile_pods import merge, reach
from tests.cases.pod_flaws import Json

ANYTHING: Json = {"level": PRIVILEGED}


class Rule(Struct, frozen=True):
    """`allowed` are the fields of a Tenancy that allows it; `remedy` is where an administrator writes that."""

    name: str
    job: Json
    field: str
    says: str
    allowed: Json
    remedy: str


class Bound(Struct, frozen=True):
    """Makes the rules whose jobs one field of a TenantProfile's spec would allow: `remedy` is its name."""

    allowed: Json
    remedy: str

    def on(self, name: str, job: Json, field: str, says: str) -> Rule:
        return Rule(name, job, field, says, self.allowed, f"TenantProfile spec.{self.remedy}")

    def at(self, name: str, job: Json, path: str, value: Any, says: str) -> Rule:
        """The job with the value at the path, which is the field of the refusal too."""
        return self.on(name, but(job, path, value), re.sub(r"\.(\d+)", r"[\1]", path), says)

    def by_conf(self, name: str, key: str, value: str, says: str) -> Rule:
        return self.on(name, conf(key, value), f"spec.sparkConf['{key}']", says)


UNSAFE = Bound(ANYTHING, "podSecurity")


def but(made: Json, path: str, value: Any) -> Json:
    """The job with a value at a dotted path; numbers are places in lists."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    holder = reach(made, tuple(way))
    holder[last] = merge({"x": holder.get(last) or {}}, {"x": value})["x"] if isinstance(last, str) else value
    return made


def conf(key: str, value: str) -> Json:
    made = spark()
    made["spec"]["sparkConf"] = {key: value}
    return made


def steps(*made: Json) -> Json:
    """A workflow with more templates."""
    flow = workflow()
    flow["spec"]["templates"] += made
    return flow


def with_volume(made: Json, path: str, source: Json) -> Json:
    return but(made, path, [{"name": "v", **source}])
