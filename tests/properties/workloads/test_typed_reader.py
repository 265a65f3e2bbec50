"""What the typed reader takes, the other reads to the same job; what it does not take is for the other to judge."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from fairway.domain.tenancy.profile import LEVELS, Tenancy
from fairway.lab.bench.pipeline.load import pod_template
from fairway.workloads.companions.named import named
from fairway.workloads.kinds.registry import KINDS, read
from fairway.workloads.reading.named_objects import NamedObjects, claims
from fairway.workloads.typed.manifests import read_typed
from tests.cases.good_jobs import batch_job, kubeflow, volcano_job
from tests.cases.pod_flaws import Json
from tests.mappings import every_mapping

_FILES = Path(__file__).parents[2] / "spec" / "workloads" / "fixtures"
_ESCAPED = b"\\"


def _plain(made: Json) -> Json:
    """Without what only a pod under `restricted` says."""
    for one in every_mapping(made):
        one.pop("securityContext", None)
    return made


def _with_amounts() -> Json:
    made = _plain(kubeflow("PyTorchJob", "pytorch", "Master")())
    spec = made["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    spec["containers"][0]["resources"] = {"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}
    return made


def _described(kind: str) -> Json:
    """A job of all kinds of fields that the typed reader knows."""
    pod = pod_template(2, 3)
    pod["metadata"] = {"labels": {"app": "x"}, "creationTimestamp": None}
    pod["spec"] |= {
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
        ]}}},
        "initContainers": [{"name": "first", "resources": {"requests": {"cpu": 1}}, "restartPolicy": "Always"}],
        "priorityClassName": "high",
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "x", "emptyDir": {}}],
    }  # fmt: skip
    made = {"Job": batch_job, "PyTorchJob": kubeflow("PyTorchJob", "pytorch", "Master", "Worker"), "": volcano_job}[
        kind
    ]()
    spec = made["spec"]
    made["metadata"] |= {"labels": {"team": "a"}, "annotations": {"note": "é\n"}, "uid": "u"}
    for holder in every_mapping(spec):
        if "template" in holder:
            holder |= {"template": deepcopy(pod), "replicas": 2}
    if kind == "Job":
        spec |= {"completions": 3, "parallelism": 4, "backoffLimit": 1}
        del spec["replicas"]
    elif kind == "PyTorchJob":
        spec["runPolicy"] = {"schedulingPolicy": {"minAvailable": 3}, "cleanPodPolicy": "None"}
    else:
        spec |= {"minAvailable": 1, "plugins": {"svc": []}, "policies": [{"event": "PodFailed"}], "queue": "default"}
    return made


_GOOD = {
    **{f"described {kind or 'Volcano Job'}": _described(kind) for kind in ("Job", "PyTorchJob", "")},
    "plain Job": _plain(batch_job()),
    "plain Volcano Job": _plain(volcano_job()),
    "plain PyTorchJob": _plain(kubeflow("PyTorchJob", "pytorch", "Master", "Worker")()),
    "plain TFJob": _plain(kubeflow("TFJob", "tf", "Chief", "PS", "Worker")()),
    "plain MPIJob": _plain(kubeflow("MPIJob", "mpi", "Launcher", "Worker", version="v2beta1")()),
    "plain PyTorchJob with amounts": _with_amounts(),
    "plain MPIJob of v1": _plain(kubeflow("MPIJob", "mpi", "Launcher", "Worker")()),
    "plain XGBoostJob": _plain(kubeflow("XGBoostJob", "xgb", "Master", "Worker")()),
}
_EXAMPLES = {
    f"{path.stem} {at}": made
    for path in sorted(_FILES.glob("*.yaml"))
    for at, case in enumerate(every_mapping(yaml.safe_load(path.read_text())))
    if isinstance(made := case, dict) and "apiVersion" in made and "kind" in made
}
# Of other kinds there is nothing to hold against each other.
_ALL = _GOOD | {name: made for name, made in _EXAMPLES.items() if made["kind"].endswith("Job")}

_WORDS = "x {{x}} system-x default volcano Always Exists 1e3 500m 8Gi -1 kube-system"
_FIELDS = """replicas parallelism completions minAvailable template spec metadata labels annotations name namespace
    resources limits requests cpu nvidia.com/gpu env ports volumes key containers initContainers nodeSelector affinity
    operator tolerations priorityClassName overhead runPolicy schedulingPolicy priorityClass queue elasticPolicy tasks
    plugins schedulerName hostNetwork securityContext serviceAccountName Worker worker Master é secretName claimName
    envFrom volumeMounts status gang apiVersion kind value args"""
_VALUES = st.one_of(
    st.sampled_from([None, True, 0, 1, -1, 7, 100_001, 2**31, 2**63, 2**70, 2.5, 3.0, 1e300, "", "2", "x y", "é" * 70]),
    st.sampled_from(_WORDS.split()),
    st.sampled_from([[], [[]], [None], ["x"], {}, {"x": {}}, {"x": "y"}, {"a/b": 1}, {"key": ""}, [{"name": []}]]),
    st.sampled_from([{"queue": "q"}, {"cpu": "1", "nvidia.com/gpu": "1"}, {"fairway.io/x": "y"}, "X" * 300]),
    st.sampled_from(
        [{"secretName": "s"}, {"claimName": "c"}, {"priorityClassName": "p"}, {"configMap": {"name": "c"}}]
    ),
    st.sampled_from([{"volcano.sh/queue-name": "q"}, {"quota.scheduling.alibabacloud.com/name": "q"}]),
)
_KEYS = st.sampled_from(_FIELDS.split())
_PIECES = st.one_of(
    st.sampled_from(rb"""\ " { } [ ] , : null 1e400 \u0041 \ud800""".split()),
    st.sampled_from([b"\xff", b" ", b"\x00", b"[" * 70 + b"]" * 70]),
    st.sampled_from(b"""'kind':'Pod', 'name':'other', 'replicas':5, 'cpu':'7', 'x':1,""".replace(b"'", b'"').split()),
)


def _spoil(made: Json, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(0, 2))):
        holder = data.draw(st.sampled_from(every_mapping(made)))
        key = data.draw(st.one_of(st.sampled_from(sorted(holder)), _KEYS) if holder else _KEYS)
        if data.draw(st.booleans()):
            holder[key] = deepcopy(data.draw(_VALUES))
        else:
            holder.pop(key, None)


def _hold_against_each_other(text: bytes, mine: Tenancy) -> bool:
    """Whether the typed reader takes it."""
    found = read_typed(Raw(text), mine)
    if found is None:
        return False
    whole: Any = msgspec.json.decode(text)
    work = read(whole, may=lambda namespace: Tenancy(namespace, mine.level), size=len(text))
    # Rows are compared as bytes: the order of what is in them counts, too.
    assert msgspec.json.encode(found.workload) == msgspec.json.encode(work)
    assert work.namespace == mine.namespace
    head = found.head
    assert (head["apiVersion"], head["kind"]) == (whole["apiVersion"], whole["kind"])
    assert all(value == whole["metadata"].get(key) for key, value in head["metadata"].items())
    assert {"name", "namespace", "labels", "annotations"} == head["metadata"].keys()
    if found.quiet:
        assert claims(whole, _ESCAPED) == NamedObjects()
        assert named(whole, KINDS[work.key], _ESCAPED) == ()
    return True


@pytest.mark.parametrize("name", _GOOD)
def test_jobs_of_usual_kinds_are_taken(name: str) -> None:
    """Or all would be read by the other reader, and nobody would see it."""
    text = msgspec.json.encode(_GOOD[name])
    assert _hold_against_each_other(text, Tenancy("team"))
    found = read_typed(Raw(text), Tenancy("team"))
    assert found is not None and found.quiet == name.startswith("plain")


@pytest.mark.parametrize(
    "mine",
    [Tenancy("team", "restricted"), Tenancy("team", priority_classes=("x",)), Tenancy("team", denies_plain_env=True)],
    ids=("restricted", "classes", "no plain values"),
)
def test_what_is_bound_by_more_rules_is_left_to_them(mine: Tenancy) -> None:
    assert read_typed(Raw(msgspec.json.encode(_GOOD["plain Job"])), mine) is None


_MORE: tuple[Json, ...] = (
    {"secretName": "s"},
    {"priorityClassName": "p"},
    {"queue": "q"},
    {"x": 1},
    {"x": {"claimName": "c"}},
    {"x": [{"priorityClass": "p"}]},
    {"gang": {"secretName": "s"}},
    {"status": {"priorityClassName": "p"}},
    {"fairway.io/x": "y"},
    {"volcano.sh/queue-name": "q"},
    {"quota.scheduling.alibabacloud.com/name": "q"},
)


@pytest.mark.parametrize("name", _GOOD)
def test_nothing_that_is_named_beside_is_passed_over(name: str) -> None:
    """In any mapping, under each of the names that somebody looks for."""
    for at in range(len(every_mapping(_GOOD[name]))):
        for more in _MORE:
            made = deepcopy(_GOOD[name])
            every_mapping(made)[at].update(more)
            _hold_against_each_other(msgspec.json.encode(made), Tenancy("team"))


@pytest.mark.parametrize("name", _ALL)
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_is_written_is_read_to_the_same_job(name: str, data: st.DataObject) -> None:
    made = deepcopy(_ALL[name])
    space = (made.get("metadata") or {}).get("namespace") or "default"
    _spoil(made, data)
    _hold_against_each_other(msgspec.json.encode(made), Tenancy(str(space), data.draw(st.sampled_from(LEVELS))))


@pytest.mark.parametrize("name", _GOOD)
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_is_sent_is_read_to_the_same_job(name: str, data: st.DataObject) -> None:
    """Text that nobody would write: keys twice, escapes, what is no JSON, too deep."""
    text = msgspec.json.encode(_GOOD[name])
    for _ in range(data.draw(st.integers(1, 2))):
        signs = [at for at in range(len(text)) if text[at] in b'{}[],:"']
        at = data.draw(st.sampled_from(signs)) + data.draw(st.integers(0, 1))
        text = text[:at] + data.draw(_PIECES) + text[at + data.draw(st.integers(0, 1)) :]
    _hold_against_each_other(text, Tenancy("team"))
