"""Which ConfigMaps, Secrets, service accounts and claims a manifest names, of every kind and wherever it says so."""

from typing import Any

import msgspec
import pytest

from fairway.wire.reasons import Refused
from fairway.workloads.companions.named import _HOLDERS, _LISTS, _MAPPINGS, _TEXTS, _WORDS, MOST, named
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
JOB = "Job.batch/v1"
SPARK = "SparkApplication.sparkoperator.k8s.io/v1beta2"
ARGO = "Workflow.argoproj.io/v1alpha1"


def of(spec: Any, kind: str = JOB) -> list[str]:
    manifest = {"metadata": {"name": "one"}, "spec": spec}
    return [str(one) for one in named(manifest, KINDS[kind], msgspec.json.encode(manifest))]


def pod(**spec: Any) -> Json:
    return {"template": {"spec": spec}}


def main(**container: Any) -> Json:
    return pod(containers=[{"name": "main", **container}])


def env(**source: Any) -> Json:
    return main(env=[{"name": "X", "valueFrom": source}])


def volume(**source: Any) -> Json:
    return pod(volumes=[{"name": "v", **source}])


def spark(**conf: str) -> Json:
    return {"sparkConf": {f"spark.kubernetes.{name.replace('__', '.')}": value for name, value in conf.items()}}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(volume(configMap={"name": "a"}), ["ConfigMap a"], id="a ConfigMap as a volume"),
        pytest.param(volume(secret={"secretName": "a"}), ["Secret a"], id="a Secret as a volume"),
        pytest.param(
            volume(projected={"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "b"}}]}),
            ["Secret a", "ConfigMap b"],
            id="both in one volume",
        ),
        pytest.param(
            volume(persistentVolumeClaim={"claimName": "a"}), ["PersistentVolumeClaim a"], id="a claim as a volume"
        ),
        pytest.param(volume(csi={"nodePublishSecretRef": {"name": "a"}}), ["Secret a"], id="a Secret of a driver"),
        pytest.param(volume(azureFile={"secretName": "a"}), ["Secret a"], id="a Secret of a share"),
        pytest.param(env(configMapKeyRef={"name": "a", "key": "k"}), ["ConfigMap a"], id="a key of a ConfigMap"),
        pytest.param(env(secretKeyRef={"name": "a", "key": "k"}), ["Secret a"], id="a key of a Secret"),
        pytest.param(
            main(envFrom=[{"configMapRef": {"name": "a"}}, {"secretRef": {"name": "b"}}]),
            ["Secret b", "ConfigMap a"],
            id="all keys of each",
        ),
        pytest.param(pod(imagePullSecrets=[{"name": "a"}]), ["Secret a"], id="a Secret to pull images with"),
        pytest.param(pod(serviceAccountName="a"), ["ServiceAccount a"], id="a service account"),
        pytest.param(pod(serviceAccount="a"), ["ServiceAccount a"], id="a service account by its old field"),
        pytest.param(
            {"x": [{"y": env(secretKeyRef={"name": "a"})}, volume(secret={"secretName": "a"})]},
            ["Secret a"],
            id="one that is named twice, deep in lists",
        ),
        pytest.param({"volumes": [{"volumeClaimName": "a"}]}, ["PersistentVolumeClaim a"], id="a claim of Volcano"),
    ],
)
def test_a_job_names(spec: Json, want: list[str]) -> None:
    assert of(spec) == want


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {"driver": {"secrets": [{"name": "a", "path": "/x"}], "configMaps": [{"name": "b", "path": "/y"}]}},
            ["Secret a", "ConfigMap b"],
            id="what the operator mounts",
        ),
        pytest.param(
            {"driver": {"envSecretKeyRefs": {"X": {"name": "a", "key": "k"}}}}, ["Secret a"], id="a variable of it"
        ),
        pytest.param({"imagePullSecrets": ["a"]}, ["Secret a"], id="Secrets to pull images with are plain names"),
        pytest.param(
            {"sparkConfigMap": "a", "hadoopConfigMap": "b"}, ["ConfigMap a", "ConfigMap b"], id="its settings"
        ),
        pytest.param(spark(driver__secrets__a="/etc/a"), ["Secret a"], id="a Secret mounted by sparkConf"),
        pytest.param(spark(executor__secretKeyRef__X="a:key"), ["Secret a"], id="a variable by sparkConf"),
        pytest.param(spark(container__image__pullSecrets="a, b"), ["Secret a", "Secret b"], id="pull Secrets by it"),
        pytest.param(
            spark(driver__volumes__persistentVolumeClaim__data__options__claimName="a"),
            ["PersistentVolumeClaim a"],
            id="a claim by it",
        ),
        pytest.param(
            spark(driver__volumes__persistentVolumeClaim__data__options__claimName="OnDemand"),
            [],
            id="a claim that Spark makes",
        ),
        pytest.param({"driver": {"serviceAccount": "mine"}}, [], id="an account is left to the member"),
    ],
)
def test_a_spark_application_names(spec: Json, want: list[str]) -> None:
    assert of(spec, SPARK) == want


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {"arguments": {"parameters": [{"valueFrom": {"configMapKeyRef": {"name": "a", "key": "k"}}}]}},
            ["ConfigMap a"],
            id="a parameter",
        ),
        pytest.param(
            {"templates": [{"inputs": {"artifacts": [{"s3": {"accessKeySecret": {"name": "a", "key": "k"}}}]}}]},
            ["Secret a"],
            id="the key to an artifact",
        ),
        pytest.param({"artifactRepositoryRef": {"configMap": "a"}}, ["ConfigMap a"], id="where artifacts are"),
        pytest.param(
            {"templates": [{"container": main(envFrom=[{"secretRef": {"name": "{{inputs.parameters.s}}"}}])}]},
            [],
            id="a name that is filled in at run time is not known",
        ),
        pytest.param({"serviceAccountName": "mine"}, [], id="an account is left to the member"),
    ],
)
def test_a_workflow_names(spec: Json, want: list[str]) -> None:
    assert of(spec, ARGO) == want


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(volume(configMap={"name": "kube-root-ca.crt"}), id="each cluster has its own of it"),
        pytest.param(pod(serviceAccountName="default"), id="each namespace has one"),
        pytest.param(volume(configMap={"name": "../other"}), id="it is no name"),
        pytest.param(volume(configMap={"name": 7}, secret=None), id="it is no text"),
        pytest.param(volume(emptyDir={}), id="nothing is named"),
        pytest.param("nonsense", id="it is no spec"),
    ],
)
def test_nothing_goes_along_where(spec: Any) -> None:
    assert of(spec) == []


def test_beyond_a_number_it_is_refused() -> None:
    few, many = (
        main(envFrom=[{"configMapRef": {"name": f"m{n}"}} for n in range(count)]) for count in (MOST, MOST + 1)
    )
    assert len(of(few)) == MOST
    with pytest.raises(Refused, match=f"names {MOST + 1} ConfigMaps"):
        of(many)


def test_a_name_that_is_escaped_in_the_text_is_found() -> None:
    text = rb'{"spec":{"x":{"config\u004dap":{"name":"a"}}}}'
    assert [str(one) for one in named(msgspec.json.decode(text), KINDS[JOB], text)] == ["ConfigMap a"]


@pytest.mark.parametrize("key", [*_HOLDERS, *_TEXTS, *_LISTS, *_MAPPINGS, "sparkConf"])
def test_every_key_has_a_word_by_which_the_text_shows_it(key: str) -> None:
    """Of sparkConf the properties have it."""
    shown = key if key != "sparkConf" else "secretKeyRef pullSecrets claimName secrets"
    assert any(word in shown.encode() for word in _WORDS)
