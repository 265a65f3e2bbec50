"""The stand-in for spark-submit: which pods it makes of the operator's arguments."""

import pytest

from fairway.lab.kubereal.stand_ins.spark_submit import SparkSubmission

K = "spark.kubernetes."
OWNER = [{"kind": "SparkApplication", "uid": "u"}]


def _submission(**conf: str) -> SparkSubmission:
    pairs = {f"{K}namespace": "team", **{key.replace("__", "."): value for key, value in conf.items()}}
    confs = [part for key, value in pairs.items() for part in ("--conf", f"{key}={value}")]
    return SparkSubmission(
        ["--class", "Main", "--deploy-mode", "cluster", "--name", "pi", *confs, "local:///pi.jar", "5000"]
    )


CASES = {
    "memory has Spark's overhead, at least 384 MiB": ({"spark__driver__memory": "1g"}, "1408Mi"),
    "a tenth of it when that is more": ({"spark__driver__memory": "8g"}, "9011Mi"),
    "the share that the application says": (
        {"spark__driver__memory": "2g", "spark__kubernetes__memoryOverheadFactor": "0.4"},
        "2867Mi",
    ),
    "or the overhead that it says": (
        {"spark__driver__memory": "512m", "spark__driver__memoryOverhead": "100m"},
        "612Mi",
    ),
}


@pytest.mark.parametrize(("given", "want"), CASES.values(), ids=CASES.keys())
def test_a_drivers_memory(given: dict[str, str], want: str) -> None:
    pod = _submission(**given).pod("driver", "pi-driver", {}, OWNER)

    assert pod["spec"]["containers"][0]["resources"]["requests"]["memory"] == want


def test_labels_and_annotations_of_the_application_reach_the_pod() -> None:
    conf = {
        "spark__kubernetes__executor__label__fairway__io/job": "pi-1",
        "spark__kubernetes__executor__annotation__fairway__test/run-for": "2s",
    }
    metadata = _submission(**conf).pod("executor", "pi-exec-1", {"spark-exec-id": "1"}, OWNER)["metadata"]

    assert metadata["labels"]["fairway.io/job"] == "pi-1"
    assert metadata["labels"]["spark-role"] == "executor"
    assert metadata["annotations"] == {"fairway.test/run-for": "2s"}
    assert metadata["ownerReferences"] == OWNER, "so that it goes with its application"


def test_gpus_are_limits_under_their_vendors_name() -> None:
    conf = {"spark__executor__resource__gpu__amount": "2", "spark__executor__resource__gpu__vendor": "nvidia.com"}
    pod = _submission(**conf).pod("executor", "pi-exec-1", {}, OWNER)

    assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"
