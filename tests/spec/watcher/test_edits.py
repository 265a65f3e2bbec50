"""watcher: what somebody changed by hand is told from what servers, webhooks and operators make of an object."""

from typing import Any

import pytest

from fairway.watcher.edits import Edit, Marks, edits, marks

Json = dict[str, Any]
MAIN = {"name": "main", "image": "x", "command": ["a", "b"], "resources": {"requests": {"cpu": "0.5"}}}
APPLIED = {"spec": {"parallelism": 2, "flag": False, "template": {"spec": {"containers": [MAIN]}}}}
# As kube-apiserver 1.34 keeps it for that Job.
_MAIN = {
    ".": {},
    "f:name": {},
    "f:image": {},
    "f:command": {},
    "f:resources": {"f:requests": {"f:cpu": {}}},
}
_PODS = {"f:spec": {"f:containers": {'k:{"name":"main"}': _MAIN}}}
OURS = {"f:parallelism": {}, "f:flag": {}, "f:template": _PODS}


def by(manager: str, spec: Json, subresource: str = "", **more: Json) -> Json:
    part = {"subresource": subresource} if subresource else {}
    fields = {**({"f:spec": spec} if spec else {}), **more}
    return {"manager": manager, "operation": "Update", **part, "fieldsV1": fields}


OPERATOR = by("job-operator", {}, "status", **{"f:status": {"f:active": {}}})


def live(*entries: Json, generation: int = 2, **spec: Any) -> Json:
    """The object with these fields changed, and who owns what; what we own is everything unless `ours` says less."""
    ours = spec.pop("ours", OURS)
    meta = {"generation": generation, "managedFields": [by("fairway", ours), OPERATOR, *entries]}
    return {"metadata": meta, "spec": {**APPLIED["spec"], **spec}}


def less(*names: str) -> Json:
    return {name: value for name, value in OURS.items() if name not in names}


def container(**changed: Any) -> Json:
    return {"spec": {"containers": [{"name": "added", "image": "sidecar"}, {**MAIN, **changed}]}}


def pods(**fields: Json) -> Json:
    return {"f:template": {"f:spec": {"f:containers": {'k:{"name":"main"}': {f"f:{k}": v for k, v in fields.items()}}}}}


ATOMIC = {"f:parallelism": {}, "f:template": {"f:spec": {"f:containers": {}}}}
HAND = by("kubectl-edit", {"f:parallelism": {}})
HPA = by("hpa", {"f:parallelism": {}}, "scale")
EDITED: dict[str, tuple[Json, list[Edit]]] = {
    "a number": (live(HAND, ours=less("f:parallelism"), parallelism=3), [Edit("spec.parallelism", "kubectl-edit")]),
    "a field of one container among others": (
        live(by("kubectl-edit", pods(image={})), ours=less("f:template"), template=container(image="y")),
        [Edit("spec.template.spec.containers[1].image", "kubectl-edit")],
    ),
    "a list that is owned as a whole": (
        live(by("hand", ATOMIC), ours=less("f:template"), template={"spec": {"containers": [{**MAIN, "image": "y"}]}}),
        [Edit("spec.template.spec.containers[0].image", "hand")],
    ),
    "a number, and changed back": (live(HAND, ours=less("f:parallelism")), []),
    "what we never set": (live(by("kubectl-edit", {"f:suspend": {}}), suspend=True), []),
    "by the kind's operator": (
        live(by("job-operator", {"f:parallelism": {}}), ours=less("f:parallelism"), parallelism=3),
        [],
    ),
    "by an operator that writes status and spec together": (
        live(
            by("argo", {"f:parallelism": {}}, **{"f:status": {"f:phase": {}}}),
            ours=less("f:parallelism"),
            parallelism=3,
        ),
        [],
    ),
    "by an autoscaler": (live(HPA, ours=less("f:parallelism"), parallelism=3), []),
    "by the server as it was applied: quantities, defaults": (
        live(template=container(resources={"requests": {"cpu": "500m"}}), completions=2),
        [],
    ),
    "by a webhook as it was applied": (live(parallelism=3), []),
}


@pytest.mark.parametrize(("found", "want"), EDITED.values(), ids=list(EDITED))
def test_what_somebody_changed(found: Json, want: list[Edit]) -> None:
    assert list(edits(APPLIED, found, lost=False)) == want


def without(name: str, **spec: Any) -> Json:
    found = live(**spec)
    del found["spec"][name]
    return found


TAKEN = {
    "a field of ours": (without("parallelism", ours=less("f:parallelism")), True, [Edit("spec.parallelism")]),
    "one that says nothing": (without("flag", ours=less("f:flag")), True, []),
    "one that the server never took": (without("parallelism", ours=less("f:parallelism")), False, []),
    "one that the server shows no more": (without("parallelism"), True, []),
}


@pytest.mark.parametrize(("found", "lost", "want"), TAKEN.values(), ids=list(TAKEN))
def test_what_somebody_took_away(found: Json, lost: bool, want: list[Edit]) -> None:
    assert list(edits(APPLIED, found, lost)) == want


def test_an_object_as_it_was_made_raises_no_doubt() -> None:
    assert marks(live(generation=1)).all == ""
    assert marks({"metadata": {"generation": 4}}) == Marks()


def test_a_status_raises_no_doubt_and_another_owner_of_the_spec_does() -> None:
    before = marks(live())
    status = by("job-operator", {}, "status", **{"f:status": {"f:ready": {}}})
    assert marks(live(status)) == before
    after = marks(live(HAND, ours=less("f:parallelism")))
    assert (after.all != before.all, after.ours != before.ours) == (True, True)
