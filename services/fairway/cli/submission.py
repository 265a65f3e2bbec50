"""A submission to a running fleet: settings first, then each job with its policies, then the wait."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fairway.cli import batches, dry_run
from fairway.cli.entries import Entry, reasons_of, refused, set_on_fleet, taken
from fairway.cli.manifests import JOB, POLICY, SETTING, TEMPLATE, Document
from fairway.client.api import ENDED, Api, GatewayRefusal
from fairway.client.failure import DENIED, JOB_CANCELLED, JOB_FAILED, TIMEOUT, USAGE, Failure, say
from fairway.explain.wording import listed
from fairway.gateway.http.answers import ReasonBody
from fairway.wire.reasons import Code

_PART = re.compile(r"([0-9]{1,9})(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_LOOK_S = 0.2
# What the gateway answers about in one request.
_AT_ONCE = 100
_ENDS = {"failed": JOB_FAILED, "cancelled": JOB_CANCELLED, "rejected": DENIED}


def send(documents: Sequence[Document], api: Api, wait: bool, timeout: str) -> tuple[list[Entry], int]:
    """An entry for each document, in their order, and the exit code that the ends of the jobs ask for."""
    seconds = duration(timeout) if timeout else None
    policies = [one for one in documents if one.role == POLICY]
    said: dict[int, Entry] = {}
    for role in (SETTING, POLICY, TEMPLATE):
        said |= {index: _send(api, one, policies) for index, one in enumerate(documents) if one.role == role}
    said |= _jobs(api, {index: one for index, one in enumerate(documents) if one.role == JOB}, policies)
    _idle(documents, policies)
    entries = [said[index] for index in range(len(documents))]
    return _await(api, entries, seconds) if wait else (entries, 0)


def _jobs(api: Api, jobs: Mapping[int, Document], policies: Sequence[Document]) -> dict[int, Entry]:
    """By their places. Several go in one request, as a caller has so many a second; to a gateway that does not know
    such a request they go one by one."""
    said: dict[int, Entry] = {}
    good = {index: one for index, one in jobs.items() if not one.reasons}
    if len(good) > 1:
        drafts = batches.drafts([(one, dry_run.policies_for(one, policies)) for one in good.values()])
        try:
            said = dict(zip(good, batches.send(api, drafts), strict=True))
        except GatewayRefusal as refusal:
            if refusal.status not in (404, 405):
                raise
    return said | {index: _send(api, one, policies) for index, one in jobs.items() if index not in said}


def duration(text: str) -> float:
    """Seconds of `60s`, `1m30s`; Failure for anything else."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise Failure(USAGE, f"--timeout {text} is not a duration", "write a number and a unit, such as 60s or 10m")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


def _send(api: Api, one: Document, policies: Sequence[Document]) -> Entry:
    if one.reasons or one.role in (POLICY, TEMPLATE):
        return dry_run.check([one])[0]
    try:
        if one.role == SETTING:
            return set_on_fleet(one, api.post("/v1/settings", one.manifest))
        body = {"manifest": one.manifest, "policies": dry_run.policies_for(one, policies)}
        return taken(one, api.post("/v1/jobs", body, wait="admitted"))
    except GatewayRefusal as refusal:
        return _refused(one, refusal)


def _refused(one: Document, refusal: GatewayRefusal) -> Entry:
    """A refusal of the object is an answer, also that this caller may not; one of the whole request is a failure of the
    command."""
    reasons = reasons_of(refusal.body)
    if refusal.status == 403 and not reasons:
        code = str(refusal.body.get("code") or Code.FORBIDDEN.value)
        reasons = (ReasonBody(code, "", str(refusal.args[0]), refusal.remedy),)
    if not reasons:
        raise refusal
    return refused(one, refusal.body, reasons)


def _idle(documents: Sequence[Document], policies: Sequence[Document]) -> None:
    for policy in policies:
        if not any(dry_run.policies_for(one, [policy]) for one in documents if one.role == JOB and not one.reasons):
            say(
                f"fairway: {policy.kind} {policy.name} selects none of these jobs and went nowhere; "
                "apply it to the hub to keep it for others"
            )


def _await(api: Api, entries: Sequence[Entry], seconds: float | None) -> tuple[list[Entry], int]:
    """Asks until every job has ended; each change is told on standard error."""
    limit = time.monotonic() + seconds if seconds is not None else None
    rows: dict[str, dict[str, Any]] = {}
    waiting = [one.job for one in entries if one.accepted and one.job]
    while waiting:
        for name in _changed(api, waiting, rows):
            _look(api, name, rows)
        waiting = [name for name in waiting if rows.get(name, {}).get("state") not in ENDED]
        if waiting and limit is not None and time.monotonic() >= limit:
            say(f"fairway: not ended in time: {listed(waiting)}; `fairway why JOB` says what a job waits for")
            break
        if waiting:
            time.sleep(_LOOK_S)
    ended = [_ended(one, rows.get(one.job)) for one in entries]
    codes = [_ENDS[one.state] for one in ended if one.job and one.state in _ENDS]
    return ended, TIMEOUT if waiting else min(codes, default=0)


def _changed(api: Api, names: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which of these jobs to look at: those that a list, many in one request, shows in another state than before. A
    caller may ask for so much a second only. One that no list has shown yet is looked at by itself."""
    if len(names) == 1:
        return list(names)
    found: dict[str, str] = {}
    for at in range(0, len(names), _AT_ONCE):
        some = names[at : at + _AT_ONCE]
        page = api.get("/v1/jobs", id=",".join(some), limit=str(_AT_ONCE))
        found |= {row["id"]: row["state"] for row in page["items"]}
    return [name for name in names if name not in found or found[name] != rows.get(name, {}).get("state")]


def _look(api: Api, name: str, rows: dict[str, dict[str, Any]]) -> None:
    try:
        row = api.get(f"/v1/jobs/{name}")
    except GatewayRefusal as refusal:
        if refusal.status != 404:
            raise
        return  # accepted, and not admitted yet
    before = rows.get(name)
    rows[name] = row
    if before is None or before["state"] != row["state"]:
        where = f" in {row['cluster']}" if row.get("cluster") else ""
        title = row["spec"]["workload"]["name"] if row.get("spec") else name
        say(f"{title}: {row['state']}{where} (attempt {row['attempt']})")


def _ended(one: Entry, row: dict[str, Any] | None) -> Entry:
    if row is None:
        return one
    cause = row.get("why")
    reasons = one.reasons
    if cause and row["state"] in _ENDS:
        reasons = (ReasonBody(cause["code"], cause.get("field", ""), cause["text"], cause.get("remedy", "")),)
    return msgspec.structs.replace(one, state=row["state"], cluster=row.get("cluster", ""), reasons=reasons)
