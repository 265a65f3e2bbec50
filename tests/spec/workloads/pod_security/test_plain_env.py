"""Secrets that are written out in the variables of containers: told of in every kind, and refused where the namespace
of the hub says so. What they are is never shown."""

from typing import Any

import msgspec
import pytest

from fairway.domain.tenancy.profile import PRIVILEGED, Tenancy, tenancy
from fairway.wire.reasons import Code, Refused
from fairway.workloads.kinds.registry import read
from fairway.workloads.plain_env import plain_env
from fairway.workloads.pod_security.plain_secrets import secret_like
from tests.cases.good_jobs import batch_job, ray_job, spark, train_job
from tests.cases.hostile_pods import SITES, Site
from tests.cases.pod_flaws import Flaw
from tests.cases.pod_rules import but

raw = msgspec.json.encode
LEAK = Flaw("a token", "", container={"env": [{"name": "HF_TOKEN", "value": "hunter2"}]})
DENIES = tenancy("team-a", {"fairway.io/plain-env": "deny", "fairway.io/pod-security": "privileged"}, ())

NAMES = {
    "a password": ("DB_PASSWORD", True),
    "one without a gap": ("PGPASSWORD", True),
    "a short one": ("SMTP_PASS", True),
    "one of MySQL": ("MYSQL_PWD", True),
    "a token": ("HF_TOKEN", True),
    "nothing else": ("token", True),
    "in camel case": ("apiKey", True),
    "an access token": ("accessToken", True),
    "a key of AWS": ("AWS_SECRET_ACCESS_KEY", True),
    "with dashes": ("wandb-api-key", True),
    "of Azure": ("AZURE_STORAGE_CONNECTION_STRING", True),
    "a very long one": ("X" * 100_000 + "_SECRET", True),
    "the working directory": ("PWD", False),
    "the one before": ("OLDPWD", False),
    "a setting of a tokenizer": ("TOKENIZERS_PARALLELISM", False),
    "how many tokens": ("MAX_TOKENS", False),
    "a mark in a text": ("EOS_TOKEN", False),
    "where the password is": ("PASSWORD_FILE", False),
    "the name of a Secret": ("SECRET_NAME", False),
    "which key it is": ("AWS_ACCESS_KEY_ID", False),
    "some key": ("PARTITION_KEY", False),
    "a bypass": ("BYPASS", False),
    "no name": (7, False),
}


@pytest.mark.parametrize(("name", "secret"), NAMES.values(), ids=list(NAMES))
def test_which_names_are_those_of_secrets(name: Any, secret: bool) -> None:
    assert secret_like(name) is secret


def _leaking() -> list[Any]:
    found = []
    for site in SITES:
        for slot in site.slots:
            if site.kind == "SparkApplication" and slot == "main":
                job = but(site.job(), f"spec.{site.role}.env", LEAK.container["env"])
            else:
                job = site.spoiled(LEAK, slot) or _added(site, slot)
            found.append(pytest.param(job, id=f"{site.kind}, {site.role}, {slot}"))
    return found


def _added(site: Site, slot: str) -> dict[str, Any]:
    """What no flaw of the Pod Security Standards can say there."""
    spoiled = site.spoiled(Flaw("", "", container={"securityContext": {}}), slot)
    assert spoiled is not None
    holder: Any = spoiled
    for key in (*site.path, "spec") if site.fields is None else site.path:
        holder = holder[key]
    holder[slot][-1]["env"] = LEAK.container["env"]
    return spoiled


@pytest.mark.parametrize("job", _leaking())
def test_it_is_told_of_in_every_template_of_every_kind_and_refused_where_that_is_said(job: dict[str, Any]) -> None:
    (told,) = plain_env(raw(job))
    assert "env[0].value: is the value of 'HF_TOKEN', written out: name a Secret" in told and "hunter2" not in told
    read(job, may=lambda namespace: Tenancy(namespace, PRIVILEGED))
    with pytest.raises(Refused) as refused:
        read(job, may=lambda namespace: DENIES)
    (why,) = refused.value.reasons
    assert (why.code, why.field) == (Code.UNSAFE_POD, told.partition(":")[0])
    assert "label fairway.io/plain-env" in why.text and "secretKeyRef" in why.remedy
    assert "hunter2" not in f"{why.text}{why.remedy}"


ELSEWHERE = {
    "what the trainer puts in": (train_job, "spec.trainer.env", LEAK.container["env"], "spec.trainer.env[0].value"),
    "old variables of Spark": (spark, "spec.driver.envVars", {"DB_PASSWORD": "x"}, "spec.driver.envVars.DB_PASSWORD"),
}


@pytest.mark.parametrize(("make", "path", "value", "field"), ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_so_it_is_where_an_operator_puts_variables_into_pods(make: Any, path: str, value: Any, field: str) -> None:
    job = but(make(), path, value)
    assert [one.partition(": ")[0] for one in plain_env(raw(job))] == [field]
    with pytest.raises(Refused) as refused:
        read(job, may=lambda namespace: DENIES)
    assert [one.field for one in refused.value.reasons] == [field]


def test_so_it_is_in_properties_of_spark() -> None:
    conf = {"spark.executorEnv.API_KEY": "x", "spark.kubernetes.driverEnv.DB_PASSWORD": "x", "spark.eventLog.dir": "x"}
    told = plain_env(raw(but(spark(), "spec.sparkConf", conf)))
    assert [one.partition(", written out")[0].rpartition(" ")[2] for one in told] == ["'API_KEY'", "'DB_PASSWORD'"]


FILLED_IN_LATER = {
    "a Secret is named": {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
    "another variable": {"name": "HF_TOKEN", "value": "$(OTHER)"},
    "a parameter": {"name": "HF_TOKEN", "value": "{{inputs.parameters.token}}"},
    "it is empty": {"name": "HF_TOKEN", "value": ""},
    "it is no secret": {"name": "EPOCHS", "value": "3"},
}


@pytest.mark.parametrize("entry", FILLED_IN_LATER.values(), ids=list(FILLED_IN_LATER))
def test_what_is_not_written_out_is_nothing_to_tell(entry: dict[str, Any]) -> None:
    job = but(batch_job(), "spec.template.spec.containers.0.env", [entry])
    assert plain_env(raw(job)) == ()
    read(job, may=lambda namespace: DENIES)


def test_of_a_pod_about_which_nothing_else_has_to_be_looked_at_it_is_refused_too() -> None:
    pod = {"containers": [{"name": "c", "image": "i", "env": LEAK.container["env"]}], "restartPolicy": "Never"}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}
    read(job)
    with pytest.raises(Refused, match="HF_TOKEN"):
        read(job, may=lambda namespace: tenancy(namespace, {"fairway.io/plain-env": "deny"}, ()))


def test_of_many_only_so_many_are_named() -> None:
    env = [{"name": f"KEY_{number}_SECRET", "value": "x"} for number in range(100)]
    told = plain_env(raw(but(ray_job(), "spec.rayClusterSpec.headGroupSpec.template.spec.containers.0.env", env)))
    assert len(told) == 11 and told[-1] == "and 90 more values that are written out"


def test_a_very_large_one_is_not_looked_at_for_warnings_and_refused_all_the_same() -> None:
    env = [*LEAK.container["env"], {"name": "DATA", "value": "x" * 70_000}]
    job = but(batch_job(), "spec.template.spec.containers.0.env", env)
    assert plain_env(raw(job)) == ()
    with pytest.raises(Refused, match="HF_TOKEN"):
        read(job, may=lambda namespace: DENIES)


@pytest.mark.parametrize("odd", [b"", b"[]", b'{"kind":"PASSWORD"}', b'{"a":"TOKEN"', b"\xffTOKEN"])
def test_of_what_is_no_job_nothing_is_told(odd: bytes) -> None:
    assert plain_env(odd) == ()


LABELS = {"deny": True, "Deny": True, "forbid": True, "warn": False, "": False}


@pytest.mark.parametrize(("label", "denies"), LABELS.items())
def test_what_a_namespace_says(label: str, denies: bool) -> None:
    assert tenancy("team-a", {"fairway.io/plain-env": label}, ()).denies_plain_env is denies
    assert not tenancy("team-a", {}, ()).denies_plain_env
