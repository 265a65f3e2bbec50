"""Requests that are sent as they stand to the simulator and to a real API server: (id, method, path, body, headers).

They are sent in order, so that one may build on those before it. `{ns}` is a namespace of the test's own.
"""

from typing import Any, NamedTuple

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
STEPS = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"
MAPS = "/api/v1/namespaces/{ns}/configmaps"
MAP = MAPS + "/a"
APPLIED = MAPS + "/s"
WIDGETS = "/apis/example.org/v1/namespaces/{ns}/widgets"
WIDGET = WIDGETS + "/w"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Raw(NamedTuple):
    said: str
    method: str
    path: str
    body: Any = None
    content: str = "application/json"


def applied(said: str, by: str, body: Json, path: str = APPLIED, force: bool = False) -> Raw:
    """An apply by this manager."""
    return Raw(said, "PATCH", f"{path}?fieldManager={by}" + ("&force=true" if force else ""), body, APPLY)


def config_map(name: str, data: Json | None = None, **metadata: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "{ns}", **metadata},
        "data": data or {"d": "1"},
    }


def job(name: str, **spec: Any) -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    body = {"suspend": True, "template": {"spec": pod}, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "{ns}"}, "spec": body}


def widget(name: str, spec: Any = None, **more: Any) -> Json:
    return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec or {}, **more}


WIDGET_CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}

WRITES = (
    Raw("a config map", "POST", MAPS, config_map("a", {"k": "v"})),
    Raw("the same again", "POST", MAPS, config_map("a")),
    Raw("one with a resourceVersion", "POST", MAPS, config_map("b", resourceVersion="7")),
    Raw("one with a bad name", "POST", MAPS, config_map("Not A Name")),
    Raw("one without a name", "POST", MAPS, {"metadata": {}}),
    Raw("one with a generated name", "POST", MAPS, {"metadata": {"generateName": "gen-"}}),
    Raw("one with a bad label", "POST", MAPS, config_map("c", labels={"x": "not a value!"})),
    Raw("one with a label that is a number", "POST", MAPS, config_map("c", labels={"x": 1})),
    Raw("one with a bad annotation key", "POST", MAPS, config_map("c", annotations={"a b": "x"})),
    Raw("one of another namespace", "POST", MAPS, config_map("c") | {"metadata": {"name": "c", "namespace": "other"}}),
    Raw("one of another kind", "POST", MAPS, config_map("c") | {"kind": "Secret"}),
    Raw("one of another version", "POST", MAPS, config_map("c") | {"apiVersion": "v2"}),
    Raw("no object", "POST", MAPS, [1, 2]),
    Raw("no JSON", "POST", MAPS, b"{"),
    Raw("nothing", "POST", MAPS),
    Raw("an unknown media type", "POST", MAPS, b"x", "text/csv"),
    Raw("a dry run", "POST", MAPS + "?dryRun=All", config_map("dry")),
    Raw("nothing of a dry run is left", "GET", MAPS + "/dry"),
    Raw("an unknown dry run", "POST", MAPS + "?dryRun=Some", config_map("dry")),
    Raw(
        "owner references without a uid", "POST", MAPS, config_map("c", ownerReferences=[{"kind": "Job", "name": "x"}])
    ),
    Raw("a namespace that is not there", "GET", "/api/v1/namespaces/nobody"),
    Raw("an object that is not there", "GET", MAPS + "/nobody"),
    Raw("a kind that is not there", "GET", "/apis/example.org/v1/namespaces/{ns}/nothings"),
    Raw("a group that is not there", "GET", "/apis/nobody.example.org/v1"),
    Raw("a subresource that is not there", "GET", MAP + "/status"),
    Raw("a put", "PUT", MAP, config_map("a", {"k": "w"})),
    Raw("a put of another name", "PUT", MAP, config_map("b")),
    Raw("a put with a stale version", "PUT", MAP, config_map("a", resourceVersion="1")),
    Raw("a put with a foreign uid", "PUT", MAP, config_map("a", uid="x")),
    Raw("a merge patch", "PATCH", MAP, {"data": {"m": "1"}}, MERGE),
    Raw("a merge patch that removes", "PATCH", MAP, {"data": {"m": None}}, MERGE),
    Raw("a merge patch that is a list", "PATCH", MAP, [], MERGE),
    Raw("a merge patch of the name", "PATCH", MAP, {"metadata": {"name": "z"}}, MERGE),
    Raw("a merge patch with a stale version", "PATCH", MAP, {"metadata": {"resourceVersion": "1"}}, MERGE),
    Raw("a merge patch with a foreign uid", "PATCH", MAP, {"metadata": {"uid": "x"}}, MERGE),
    Raw("a merge patch of nobody", "PATCH", MAPS + "/nobody", {"data": {}}, MERGE),
    Raw("a JSON patch", "PATCH", MAP, [{"op": "add", "path": "/data/n", "value": "1"}], STEPS),
    Raw("a JSON patch with a failing test", "PATCH", MAP, [{"op": "test", "path": "/data/n", "value": "2"}], STEPS),
    Raw("a JSON patch of a missing path", "PATCH", MAP, [{"op": "remove", "path": "/data/zz"}], STEPS),
    Raw("a JSON patch that is no list", "PATCH", MAP, {"op": "add"}, STEPS),
    Raw("a JSON patch of an unknown op", "PATCH", MAP, [{"op": "jump", "path": "/data"}], STEPS),
    Raw("a patch of an unknown type", "PATCH", MAP, {"data": {}}, "application/json"),
    Raw("a strategic patch", "PATCH", MAP, {"data": {"s": "1"}}, STRATEGIC),
    Raw("a patch of a collection", "PATCH", MAPS, {"data": {}}, MERGE),
)

APPLIES = (
    Raw("what somebody created", "POST", MAPS, config_map("a", {"k": "v"})),
    applied("an apply that creates", "one", config_map("s", {"k": "1"})),
    applied("the same apply", "one", config_map("s", {"k": "1"})),
    applied("another manager's conflict", "two", config_map("s", {"k": "2"})),
    applied("another manager's force", "two", config_map("s", {"k": "2"}), force=True),
    applied("the first manager has lost it", "one", config_map("s", {"k": "1"})),
    Raw("an apply without a manager", "PATCH", APPLIED, config_map("s"), APPLY),
    applied("an apply of another name", "one", config_map("t")),
    applied("a conflict with who created", "one", config_map("a", {"k": "9"}), MAP),
    applied("an apply with managedFields", "one", config_map("s", managedFields=[{"manager": "x"}])),
    applied("fields that are not applied any more go", "two", config_map("s", {"z": "1"}), force=True),
    Raw("what is left", "GET", APPLIED),
    Raw("a force without apply", "PATCH", MAP + "?force=true", {"data": {}}, MERGE),
)

JOB_WRITES = (
    Raw("a job", "POST", JOBS, job("j", parallelism=2, completions=2)),
    Raw("what the server added", "GET", JOBS + "/j"),
    Raw("a job without a template", "POST", JOBS, {**job("k"), "spec": {}}),
    Raw(
        "a job that always restarts",
        "POST",
        JOBS,
        job("k", template={"spec": {"containers": [{"name": "m", "image": "x"}]}}),
    ),
    Raw("a job with a negative size", "POST", JOBS, job("k", parallelism=-1)),
    Raw("a job of which a number is a word", "POST", JOBS, job("k", parallelism="many")),
    Raw("a job with a field nobody knows", "POST", JOBS, job("m", colour="red")),
    Raw("a strict job with a field nobody knows", "POST", JOBS + "?fieldValidation=Strict", job("l", colour="red")),
    Raw(
        "a change of its template",
        "PATCH",
        JOBS + "/j",
        {"spec": {"template": {"spec": {"schedulerName": "x"}}}},
        MERGE,
    ),
    Raw("a change of its completions", "PATCH", JOBS + "/j", {"spec": {"completions": 3}}, MERGE),
    Raw("a change of its parallelism", "PATCH", JOBS + "/j", {"spec": {"parallelism": 3}}, MERGE),
    Raw("the generation counts it", "GET", JOBS + "/j"),
    Raw("a status in a patch of the object is ignored", "PATCH", JOBS + "/j", {"status": {"active": 7}}, MERGE),
    Raw("a spec in a patch of the status is ignored", "PATCH", JOBS + "/j/status", {"spec": {"parallelism": 9}}, MERGE),
    Raw("its status", "GET", JOBS + "/j/status"),
    Raw("a status that is not possible", "PATCH", JOBS + "/j/status", {"status": {"succeeded": -1}}, MERGE),
)

WIDGET_WRITES = (
    Raw("a widget with a status", "POST", WIDGETS, widget("w", {"a": 1}, status={"s": 1})),
    Raw("a change of it", "PATCH", WIDGET, {"spec": {"a": 2}}, MERGE),
    Raw("a change of its labels", "PATCH", WIDGET, {"metadata": {"labels": {"l": "1"}}}, MERGE),
    Raw("a change of its status", "PATCH", WIDGET + "/status", {"status": {"s": 2}, "spec": {"a": 9}}, MERGE),
    Raw("a change of nothing", "PATCH", WIDGET, {"spec": {"a": 2}}, MERGE),
    Raw("a strategic patch of it", "PATCH", WIDGET, {"spec": {}}, STRATEGIC),
    applied("an apply of its status", "s", widget("w", status={"t": 1}), WIDGET + "/status", force=True),
    Raw("a put without a version", "PUT", WIDGET, widget("w", {"a": 3})),
    Raw(
        "a put with a stale version",
        "PUT",
        WIDGET,
        widget("w", {"a": 3}) | {"metadata": {"name": "w", "resourceVersion": "1"}},
    ),
    Raw("a finalizer", "PATCH", WIDGET, {"metadata": {"finalizers": ["example.org/hold"]}}, MERGE),
    Raw("a deletion that waits", "DELETE", WIDGET),
    Raw("it is marked", "GET", WIDGET),
    Raw("a second deletion", "DELETE", WIDGET),
    Raw(
        "no finalizer may be added now",
        "PATCH",
        WIDGET,
        {"metadata": {"finalizers": ["example.org/hold", "example.org/more"]}},
        MERGE,
    ),
    Raw("without finalizers it goes", "PATCH", WIDGET, {"metadata": {"finalizers": []}}, MERGE),
    Raw("it is gone", "GET", WIDGET),
)

DELETES = (
    Raw("what somebody created", "POST", MAPS, config_map("a", {"k": "v"})),
    Raw("and another", "POST", MAPS, config_map("s")),
    Raw("a foreign uid", "DELETE", MAP, {"preconditions": {"uid": "x"}}),
    Raw("a stale version", "DELETE", MAP, {"preconditions": {"resourceVersion": "1"}}),
    Raw("a policy nobody knows", "DELETE", MAP, {"propagationPolicy": "Sideways"}),
    Raw("a dry run", "DELETE", MAP + "?dryRun=All"),
    Raw("a config map", "DELETE", MAP),
    Raw("what is not there", "DELETE", MAP),
    Raw("in the foreground, without dependents", "DELETE", APPLIED, {"propagationPolicy": "Foreground"}),
    Raw("a collection by label", "DELETE", MAPS + "?labelSelector=nobody=1"),
)

READS = (
    Raw("what somebody created", "POST", MAPS, config_map("a", {"k": "v"})),
    Raw("a bad label selector", "GET", MAPS + "?labelSelector=a%20b%20c"),
    Raw("a bad field selector", "GET", MAPS + "?fieldSelector=data.k=1"),
    Raw("by name", "GET", MAPS + "?fieldSelector=metadata.name=a"),
    Raw("a limit that is no number", "GET", MAPS + "?limit=many"),
    Raw("a continue that is nonsense", "GET", MAPS + "?limit=1&continue=nonsense"),
    Raw("a version that is no number", "GET", MAPS + "?resourceVersion=x"),
    Raw("a version of the future", "GET", MAPS + "?resourceVersion=99999999"),
    Raw("a watch from nonsense", "GET", MAPS + "?watch=1&timeoutSeconds=1&resourceVersion=x"),
    Raw("nothing at all", "GET", "/nowhere"),
    Raw("its namespace", "GET", "/api/v1/namespaces/{ns}"),
    Raw("a method that is not there", "PUT", MAPS, config_map("a")),
    Raw("a post to an object", "POST", MAP, config_map("a")),
    Raw("the resources of batch", "GET", "/apis/batch/v1"),
    Raw("the readiness", "GET", "/readyz"),
)
ALL = {
    "writes": WRITES,
    "applies": APPLIES,
    "jobs": JOB_WRITES,
    "widgets": WIDGET_WRITES,
    "reads": READS,
    "deletes": DELETES,
}
