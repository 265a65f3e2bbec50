"""What of a SparkApplication is on the operator's command line of spark-submit (spark-operator 2.3.0, submission.go).

That command runs with the rights of the operator and in its pod. A word that it takes for an option, or a key that
holds `=`, would set what is looked at nowhere: `--conf a=b=c` sets `a`.
"""

from collections.abc import Iterator

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown

_ROLES = ("driver", "executor")
# Each stands on the command line by itself, or as the word behind an option.
_WORDS = ("mainApplicationFile", "mainClass", "proxyUser")
_DEPENDENCIES = ("jars", "files", "pyFiles", "packages", "excludePackages", "repositories", "archives")
# Mappings whose keys become those of `--conf`: of the application, and of a role.
_KEYED = ("sparkConf", "hadoopConf", "nodeSelector")
_KEYED_OF_ROLE = ("labels", "annotations", "serviceLabels", "serviceAnnotations", "envVars", "envSecretKeyRefs")
# With these main classes spark-submit takes options from among the application's own arguments as well
# (launcher/SparkSubmitCommandBuilder.java, specialClasses).
_MIXED = ("org.apache.spark.repl.", "org.apache.spark.sql.hive.thriftserver.", "org.apache.spark.sql.connect.")


def check_command(manifest: Field, ruling: Ruling) -> None:
    spec = manifest["spec"]
    for name in _WORDS:
        _word(spec[name], ruling)
    if not spec["mainApplicationFile"].text().strip() and spec["arguments"].value:
        text = "is empty, so that spark-submit reads the first argument in its place"
        ruling.never(PodView(spec["mainApplicationFile"]), text, "name the file of the application")
    if spec["mainClass"].text().strip().startswith(_MIXED):
        ruling.unseen(PodView(spec["mainClass"]), "makes spark-submit read options from the application's arguments")
    for name in _DEPENDENCIES:
        for listed in spec["deps"][name].items():
            _word(listed, ruling)
    for key, field in _keys(manifest):
        if "=" in key or (key and key.split() != [key]):
            text = f"{shown(key)} is a key with = or a blank, of which spark-submit reads a part as another setting"
            ruling.never(PodView(field), text, "correct the key")


def _word(field: Field, ruling: Ruling) -> None:
    if field.text().strip().startswith("-"):
        text = f"is {shown(field.value)}, an option to spark-submit, which runs with the operator's rights"
        ruling.never(PodView(field), text, "write a name or path that does not begin with -")


def _keys(manifest: Field) -> Iterator[tuple[str, Field]]:
    """Every key that becomes one of `--conf`, with where it stands."""
    spec = manifest["spec"]
    for mapping in (manifest["metadata"]["labels"], *(spec[name] for name in _KEYED)):
        yield from mapping.pairs()
    for role in _ROLES:
        for name in _KEYED_OF_ROLE:
            yield from spec[role][name].pairs()
        for listed in (spec[role]["secrets"], spec[role]["volumeMounts"]):
            for entry in listed.items():
                yield entry["name"].text(), entry["name"]
    for volume in spec["volumes"].items():
        yield volume["name"].text(), volume["name"]
