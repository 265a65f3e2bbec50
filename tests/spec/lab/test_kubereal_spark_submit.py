"""The stand-in for spark-submit: which pods it makes of the operator's arguments."""

import pytest

from fairway.lab.kubereal.stand_ins.spark_submit import SparkSubmission

K = "spark.kubernetes."
OWNER = [{"kind": "SparkApplication", "uid": "u"}]


def _submission(file: str = "local:///pi.jar", **conf: str) -> SparkSubmission:
    pairs = {f"{K}namespace": "team", **{key.replace("__", "."): value for key, value in conf.items()}}
    confs = [part for key, value in pairs.items() for part in ("--conf", f"{key}={value}")]
    return SparkSubmission(["--class", "Main", "--deploy-mode", "cluster", "--name", "pi", *confs, file, "5000"])


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


OFF_HEAP = {"spark__memory__offHeap__enabled": "true", "spark__memory__offHeap__size": str(2**30)}
EXECUTORS = {
    "two fifths for Python": ("local:///pi3.py", {"spark__executor__memory": "2g"}, "2867Mi"),
    "and for R": ("local:///pi3.R", {"spark__executor__memory": "2g"}, "2867Mi"),
    "Python's own memory beside it": ("local:///pi3.py", {"spark__executor__pyspark__memory": "300m"}, "1733Mi"),
    "which Java has not": ("local:///pi.jar", {"spark__executor__pyspark__memory": "300m"}, "1408Mi"),
    "memory off the heap, whose number alone counts bytes": ("local:///pi.jar", OFF_HEAP, "2432Mi"),
    "a share of the role's before the one for both": (
        "local:///pi.jar",
        {
            "spark__executor__memory": "4g",
            "spark__executor__memoryOverheadFactor": "0.5",
            "spark__kubernetes__memoryOverheadFactor": "0.2",
        },
        "6144Mi",
    ),
    "KiB in whole MiB": ("local:///pi.jar", {"spark__executor__memory": "1049600kb"}, "1409Mi"),
}


@pytest.mark.parametrize(("file", "given", "want"), EXECUTORS.values(), ids=EXECUTORS.keys())
def test_an_executors_memory(file: str, given: dict[str, str], want: str) -> None:
    pod = _submission(file, **given).pod("executor", "pi-exec-1", {}, OWNER)

    assert pod["spec"]["containers"][0]["resources"]["requests"]["memory"] == want


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({}, 2, id="two where nobody says how many"),
        pytest.param({"spark__executor__instances": "3"}, 3, id="as many as are said"),
        pytest.param({"spark__dynamicAllocation__enabled": "true"}, 0, id="none yet where Spark decides"),
        pytest.param(
            {
                "spark__dynamicAllocation__enabled": "true",
                "spark__dynamicAllocation__initialExecutors": "2",
                "spark__dynamicAllocation__minExecutors": "4",
            },
            4,
            id="the most of what Spark begins with",
        ),
    ],
)
def test_how_many_executors_there_are_at_the_start(given: dict[str, str], want: int) -> None:
    assert _submission(**given).executors() == want


def test_a_pod_template_keeps_what_spark_does_not_say() -> None:
    submission = _submission(spark__driver__memory="1g")
    main = {"name": "spark-kubernetes-driver", "resources": {"requests": {"cpu": "9", "ephemeral-storage": "1Gi"}}}
    proxy = {"name": "proxy"}
    submission.templates = {"driver": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [proxy, main]}}}
    pod = submission.pod("driver", "pi-driver", {}, OWNER)

    spark, other = pod["spec"]["containers"]
    assert spark["resources"]["requests"] == {"cpu": "1", "memory": "1408Mi", "ephemeral-storage": "1Gi"}
    assert other == proxy
    assert pod["metadata"]["labels"]["a"] == "b"
