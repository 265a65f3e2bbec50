"""A submission to a running fleet: settings first, then each job with its policies, then the wait."""

import re
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from fairway.app import batches, dry_run
from fairway.app.client import ENDED, Api, Refusal, address
from fairway.app.entries import Entry, ReasonEntry, entry
from fairway.app.failure import DENIED, JOB_CANCELLED, JOB_FAILED, TIMEOUT, USAGE, Failure, say
from fairway.app.manifests import JOB, POLICY, SETTING, Document
from fairway.runtime.prose import listed

_PART = re.compile(r"(\d{1,9})(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
# Of many jobs at a time, well below the requests that one caller may send.
_LOOK_S, _AT_ONCE = 0.2, 100
_ENDS = {"failed": JOB_FAILED, "cancelled": JOB_CANCELLED, "rejected": DENIED}


def send(documents: Sequence[Document], url: str, wait: bool, timeout: str) -> tuple[list[Entry], int]:
    """An entry for each document, in their order, and the exit code that the ends of the jobs ask for."""
    seconds = duration(timeout) if timeout else None
    api = Api(address(url))
    policies = [one for one in documents if one.role == POLICY]
    said: dict[int, Entry] = {}
    for role in (SETTING, POLICY, JOB):
        of_role = {index: one for index, one in enumerate(documents) if one.role == role}
        good = {index: one for index, one in of_role.items() if role == JOB and not one.reasons}
        if len(good) > 1:
            jobs = batches.drafts([(one, dry_run.policies_for(one, policies)) for one in good.values()])
            said |= dict(zip(good, batches.send(api, jobs), strict=True))
        said |= {index: _send(api, one, policies) for index, one in of_role.items() if index not in said}
    _idle(documents, policies)
    entries = [said[index] for index in range(len(documents))]
    return _await(api, entries, seconds) if wait else (entries, 0)


def duration(text: str) -> float:
    """Seconds of `60s`, `1m30s`; Failure for anything else."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise Failure(USAGE, f"--timeout {text} is not a duration", "write a number and a unit, such as 60s or 10m")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


def _send(api: Api, one: Document, policies: Sequence[Document]) -> Entry:
    if one.reasons or one.role == POLICY:
        return dry_run.check([one])[0]
    try:
        if one.role == SETTING:
            api.post("/v1/settings", one.manifest)
            return entry(one)
        body = {"manifest": one.manifest, "policies": dry_run.policies_for(one, policies)}
        accepted = api.post("/v1/jobs", body, wait="admitted")
    except Refusal as refusal:
        return _refused(one, refusal)
    return entry(one, job=accepted["job"], state=accepted.get("state", "submitted"), queue=accepted.get("queue", ""))


def _refused(one: Document, refusal: Refusal) -> Entry:
    """A refusal of the object is an answer; one of the whole request is a failure of the command."""
    reasons = [msgspec.convert(reason, ReasonEntry) for reason in refusal.body.get("reasons", ())]
    if not reasons:
        raise refusal
    job = str(refusal.body.get("job", ""))
    return msgspec.structs.replace(entry(one), accepted=False, job=job, reasons=tuple(reasons))


def _idle(documents: Sequence[Document], policies: Sequence[Document]) -> None:
    for policy in policies:
        if not any(dry_run.policies_for(one, [policy]) for one in documents if one.role == JOB and not one.reasons):
            say(f"fairway: {policy.kind} {policy.name} selects none of these jobs and went nowhere; "
                "apply it to the hub to keep it for others")  # fmt: skip


def _await(api: Api, entries: Sequence[Entry], seconds: float | None) -> tuple[list[Entry], int]:
    """Asks until every job has ended; each change is told on standard error."""
    limit = time.monotonic() + seconds if seconds is not None else None
    rows: dict[str, dict[str, Any]] = {}
    waiting = [one.job for one in entries if one.accepted and one.job]
    while waiting:
        for start in range(0, len(waiting), _AT_ONCE):
            _look(api, waiting[start : start + _AT_ONCE], rows)
        waiting = [name for name in waiting if rows.get(name, {}).get("state") not in ENDED]
        if waiting and limit is not None and time.monotonic() >= limit:
            say(f"fairway: not ended in time: {listed(waiting)}; `fairway why JOB` says what a job waits for")
            break
        if waiting:
            time.sleep(_LOOK_S)
    ended = [_ended(one, rows.get(one.job)) for one in entries]
    codes = [_ENDS[one.state] for one in ended if one.job and one.state in _ENDS]
    return ended, TIMEOUT if waiting else min(codes, default=0)


def _look(api: Api, names: Sequence[str], rows: dict[str, dict[str, Any]]) -> None:
    """One that was accepted and is not admitted yet has no row."""
    for row in api.get("/v1/jobs", id=",".join(names))["items"]:
        name, before = row["id"], rows.get(row["id"])
        if before is None or before["state"] != row["state"]:
            where = f" in {row['cluster']}" if row.get("cluster") else ""
            say(f"{row['name'] or name}: {row['state']}{where} (attempt {row['attempt']})")
        rows[name] = api.get(f"/v1/jobs/{name}") if row["state"] in _ENDS else row


def _ended(one: Entry, row: dict[str, Any] | None) -> Entry:
    if row is None:
        return one
    cause = row.get("why")
    reasons = one.reasons
    if cause and row["state"] in _ENDS:
        reasons = (ReasonEntry(cause["code"], cause.get("field", ""), cause["text"], cause.get("remedy", "")),)
    return msgspec.structs.replace(one, state=row["state"], cluster=row.get("cluster", ""), reasons=reasons)
