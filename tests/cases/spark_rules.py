"""What a SparkApplication may not say, because its operator would hand it to spark-submit as an option."""

from typing import Any

from tests.cases.argo_rules import Never
from tests.cases.good_jobs import spark
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import ANYTHING, Rule, but

_OPTION = "an option to spark-submit"
_CORRECT = "does not begin with -"
_KEY = "reads a part as another setting"
_REMEDY = "correct the key"


def word(path: str, value: Any, field: str = "") -> Never:
    return Never(f"an option as {path}", but(spark(), path, value), field or path, _OPTION, _CORRECT)


def keyed(path: str, key: str, value: Any = "x") -> Never:
    field = f"{path}['{key}']" if "." in key or "/" in key else f"{path}.{key}"
    return Never(f"a key with = or a blank in {path}: {key}", but(spark(), path, {key: value}), field, _KEY, _REMEDY)


def _client() -> Json:
    made = but(spark(), "spec.mainApplicationFile", "--deploy-mode")
    made["spec"]["arguments"] = ["client", "--conf", "spark.kubernetes.namespace=kube-system", "http://a/b.jar"]
    return made


def _empty() -> Json:
    made = spark()
    made["spec"] |= {"mainApplicationFile": "", "arguments": ["--deploy-mode", "client"]}
    return made


COMMAND = (
    Never("another way to run, as the application", _client(), "spec.mainApplicationFile", _OPTION, _CORRECT),
    Never("no application before arguments", _empty(), "spec.mainApplicationFile", "is empty", "name the file"),
    word("spec.mainApplicationFile", "--conf=spark.master=k8s://a"),
    word("spec.mainClass", "--conf"),
    word("spec.proxyUser", "--conf"),
    *(
        word(f"spec.deps.{name}", ["--conf"], f"spec.deps.{name}[0]")
        for name in ("jars", "files", "pyFiles", "packages", "excludePackages", "repositories", "archives")
    ),
    keyed("spec.sparkConf", "spark.master=k8s://a"),
    keyed("spec.sparkConf", " spark.master"),
    keyed("spec.hadoopConf", "a=b"),
    keyed("spec.driver.envVars", "A=b"),
    keyed("spec.driver.serviceLabels", "a=b"),
    keyed("spec.driver.serviceAnnotations", "a=b"),
    keyed("spec.executor.envVars", "A b"),
    keyed("spec.driver.envSecretKeyRefs", "T=argo.service-account-token:token", {"name": "s", "key": "k"}),
    Never(
        "a key with = as the name of a secret",
        but(
            spark(), "spec.driver.secrets", [{"name": "default-token-x7k2p=/t", "path": "/u", "secretType": "Generic"}]
        ),
        "spec.driver.secrets[0].name",
        _KEY,
        _REMEDY,
    ),
    Never(
        "a key with = as the name of a volume",
        but(spark(), "spec.volumes", [{"name": "spark-local-dir-a=b", "emptyDir": {}}]),
        "spec.volumes[0].name",
        _KEY,
        _REMEDY,
    ),
)
_MORE = "TenantProfile spec.podSecurity"
OPTIONS = (
    Rule(
        "a class with which arguments are options",
        but(spark(), "spec.mainClass", "org.apache.spark.repl.Main"),
        "spec.mainClass",
        "options from the application's arguments",
        ANYTHING,
        _MORE,
    ),
    Rule(
        "another API server for the driver",
        but(spark(), "spec.driver.kubernetesMaster", "https://a"),
        "spec.driver.kubernetesMaster",
        "to another API server",
        ANYTHING,
        _MORE,
    ),
)
