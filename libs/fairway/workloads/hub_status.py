"""What the object on the hub shows where its member's own words will not do: while it waits, between attempts, and
at an end that only Fairway knows. Statuses in, statuses out; what was shown before is not changed.

The shapes are those of the kinds' own operators, so that `kubectl get`, `wait` and whoever reads the status find what
they would find if it ran there.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class StatusWord(Struct, frozen=True):
    """Why, as a CamelCase word and a sentence; `at` is RFC 3339 in whole seconds, as Kubernetes writes times."""

    code: str
    text: str
    at: str


def as_seen(shown: Json, seen: Json) -> Json:
    """The member's own words, as they are."""
    return seen


def only_suspended(shown: Json) -> bool:
    listed = shown.get("conditions")
    types = [one.get("type") if isinstance(one, dict) else None for one in listed] if isinstance(listed, list) else []
    return not shown or (shown.keys() == {"conditions"} and types == ["Suspended"])


class Ends(Struct, frozen=True):
    """`shows` is what follows on `shown` when the member says `seen`. `waits`: the attempt is over and another one
    follows. `fails`: the job is over, and no member says so. `queued`: it waits for an attempt, the first or
    the next (None: the kind has no word for that). `untouched`: nobody has written there but Fairway. `anew` takes
    back that it failed, as a merge patch."""

    waits: Callable[[Json, StatusWord], Json]
    fails: Callable[[Json, StatusWord], Json]
    shows: Callable[[Json, Json], Json] = as_seen
    queued: Callable[[Json, StatusWord], Json] | None = None
    untouched: Callable[[Json], bool] = only_suspended
    anew: Json | None = None


def entries(listed: Any) -> list[Json]:
    """Those of a list that are mappings; anyone may have written it."""
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def without(status: Json, *fields: str) -> Json:
    return {key: value for key, value in status.items() if key not in fields}


def turned(conditions: Any, word: StatusWord, **wanted: bool) -> list[Json]:
    """The conditions with these types at these values, moved to the end in this order: a printer column often shows
    the last one. What is to be false and is not there is not added; what its owner wrote instead of any is left out."""
    listed = entries(conditions)
    for kind, value in wanted.items():
        had = next((one for one in listed if one.get("type") == kind), None)
        if had is None and not value:
            continue
        listed = [one for one in listed if one is not had]
        listed.append(condition(kind, value, word))
    return listed


def condition(kind: str, value: bool, word: StatusWord) -> Json:
    return {
        "type": kind,
        "status": str(value),
        "reason": word.code,
        "message": word.text,
        "lastTransitionTime": word.at,
    }


def suspended(shown: Json, word: StatusWord) -> Json:
    """As an operator shows a job whose spec says suspend: for whoever reads the hub, it waits just so."""
    return {**shown, "conditions": turned(shown.get("conditions"), word, Suspended=True)}


# kubeflow.org: conditions, and counts by role.
def _no_replicas(shown: Json) -> Json:
    return {role: {} for role in shown.get("replicaStatuses") or ()}


def _training_waits(shown: Json, word: StatusWord) -> Json:
    conditions = turned(shown.get("conditions"), word, Running=False, Suspended=False, Restarting=True)
    return {**without(shown, "completionTime"), "conditions": conditions, "replicaStatuses": _no_replicas(shown)}


def _training_fails(shown: Json, word: StatusWord) -> Json:
    conditions = turned(shown.get("conditions"), word, Running=False, Restarting=False, Suspended=False, Failed=True)
    return {**shown, "conditions": conditions, "replicaStatuses": _no_replicas(shown), "completionTime": word.at}


TRAINING = Ends(_training_waits, _training_fails, queued=suspended)


# JobSet: conditions, a terminal state, and counts of Jobs (all of whose fields its schema demands).
def _set_waits(shown: Json, word: StatusWord) -> Json:
    return without(shown, "conditions", "terminalState", "replicatedJobsStatus")


def _set_fails(shown: Json, word: StatusWord) -> Json:
    status = without(shown, "replicatedJobsStatus")
    return {**status, "conditions": turned(shown.get("conditions"), word, Failed=True), "terminalState": "Failed"}


SET = Ends(_set_waits, _set_fails, queued=suspended)


# TrainJob: conditions, and counts of the Jobs of its JobSet.
def _train_waits(shown: Json, word: StatusWord) -> Json:
    return without(shown, "conditions", "jobsStatus")


def _train_fails(shown: Json, word: StatusWord) -> Json:
    return {"conditions": turned(shown.get("conditions"), word, Failed=True)}


TRAIN = Ends(_train_waits, _train_fails, queued=suspended)


# Volcano: a state with a phase; the counts are of pods that are no more.
def _volcano(phase: str, shown: Json, word: StatusWord) -> Json:
    state = {"phase": phase, "reason": word.code, "message": word.text, "lastTransitionTime": word.at}
    kept: Json = {key: shown[key] for key in ("minAvailable", "retryCount") if key in shown}
    return {**kept, "state": state}


VOLCANO = Ends(partial(_volcano, "Pending"), partial(_volcano, "Failed"))


# Argo: a phase; what the nodes of an attempt did says nothing of the next one.
def _workflow_waits(shown: Json, word: StatusWord) -> Json:
    return {"phase": "Pending", "message": word.text}


def _workflow_fails(shown: Json, word: StatusWord) -> Json:
    ended = {"phase": "Failed", "message": word.text, "finishedAt": word.at}
    started = {"startedAt": shown.get("startedAt") or word.at}
    return {**shown, **started, **ended, "conditions": [{"type": "Completed", "status": "True"}]}


WORKFLOW = Ends(_workflow_waits, _workflow_fails)


# Spark: a state of the application; its schema demands driverInfo.
def _spark(state: str, shown: Json, word: StatusWord) -> Json:
    kept = without(shown, "executorState", "sparkApplicationId", "submissionID")
    told = {"applicationState": {"state": state, "errorMessage": word.text}, "driverInfo": {}}
    return {**kept, **told, "terminationTime": word.at if state == "FAILED" else None}


SPARK = Ends(partial(_spark, "PENDING_RERUN"), partial(_spark, "FAILED"))


# KubeRay: a state of the deployment, one of the job in it, and that of the cluster.
_RAY_GONE = ("rayClusterStatus", "rayClusterName", "jobId", "dashboardURL", "endTime", "reason", "failed")


def _ray_waits(shown: Json, word: StatusWord) -> Json:
    return {
        **without(shown, *_RAY_GONE),
        "jobDeploymentStatus": "Retrying",
        "jobStatus": "PENDING",
        "message": word.text,
    }


def _ray_fails(shown: Json, word: StatusWord) -> Json:
    ended = {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": word.text, "endTime": word.at}
    return {**without(shown, "rayClusterStatus"), **ended}


def _ray_shows(shown: Json, seen: Json) -> Json:
    """The job's FAILED comes a moment before the deployment's: whether it is the end is not said yet."""
    if seen.get("jobStatus") in ("FAILED", "STOPPED") and seen.get("jobDeploymentStatus") not in ("Complete", "Failed"):
        return {**seen, "jobStatus": "RUNNING"}
    return seen


RAY = Ends(_ray_waits, _ray_fails, _ray_shows)


# RayCluster: a state, conditions, and counts of pods that are no more. KubeRay never writes the condition Failed; it is
# what its reader takes for an end.
def _cluster_waits(shown: Json, word: StatusWord) -> Json:
    conditions = turned(shown.get("conditions"), word, HeadPodReady=False, RayClusterProvisioned=False)
    return {"state": "", "reason": word.text, "conditions": conditions}


def _cluster_fails(shown: Json, word: StatusWord) -> Json:
    ended = {"HeadPodReady": False, "RayClusterProvisioned": False, "Failed": True}
    return {"state": "failed", "reason": word.text, "conditions": turned(shown.get("conditions"), word, **ended)}


RAY_CLUSTER = Ends(_cluster_waits, _cluster_fails)


# LeaderWorkerSet: conditions, and counts of groups that are no more. Its controller never writes Failed; it is what its
# reader takes for an end.
def _serving_waits(shown: Json, word: StatusWord) -> Json:
    conditions = turned(shown.get("conditions"), word, Available=False, UpdateInProgress=False, Progressing=True)
    return {"conditions": conditions}


def _serving_fails(shown: Json, word: StatusWord) -> Json:
    ended = {"Available": False, "UpdateInProgress": False, "Progressing": False, "Failed": True}
    return {"conditions": turned(shown.get("conditions"), word, **ended)}


SERVING = Ends(_serving_waits, _serving_fails)


# A kind that declares nothing better: conditions, as most operators write them.
def _plain_waits(shown: Json, word: StatusWord) -> Json:
    return {"conditions": [condition("Failed", False, word)]}


def _plain_fails(shown: Json, word: StatusWord) -> Json:
    return {**shown, "conditions": turned(shown.get("conditions"), word, Running=False, Failed=True)}


PLAIN = Ends(_plain_waits, _plain_fails)
