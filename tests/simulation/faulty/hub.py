"""Deliberate faults of the hub's service."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import Call, Decision, Outcome, Say
from fairway.domain.job import Job, State
from fairway.domain.names import job_id
from fairway.domain.submission import HUB_CLIENT, Submission, as_said
from fairway.hub import decide, job_object, memory
from fairway.hub.calls import Json, Place
from fairway.hub.hub_writes import HubWrites
from fairway.hub.intake import all_listed, noting, owners_wish, seen_objects, submit, template_changes
from fairway.hub.job_object import JobObject
from fairway.hub.messages import TemplateSeen
from fairway.hub.settings import judge
from fairway.hub.settings.settings_in_force import SettingsInForce
from fairway.hub.telling import bindings, job_words, statuses, tell
from fairway.hub.view import View
from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import HubObject

Patch = pytest.MonkeyPatch


def oblivious(patch: Patch) -> None:
    """The hub forgets a deletion that came while nobody looked."""
    patch.setattr(decide, "orphan", lambda view, heard, message, now: Decision())


def despairing(patch: Patch) -> None:
    """A failed attempt is shown on the hub as the end of its job."""
    end = statuses._end
    patch.setattr(statuses, "_end", lambda job, message: (end(job, message)[0], True))


def mistaken(patch: Patch) -> None:
    """What the hub shows of a job that waits, that it is suspended, is taken for its owner's wish."""
    owners = job_object.suspended

    def either(one: HubObject) -> bool:
        status = one.manifest.get("status")
        listed = status.get("conditions") if isinstance(status, dict) else ()
        said = listed if isinstance(listed, list) else ()
        return owners(one) or any(each.get("type") == "Suspended" and each.get("status") == "True" for each in said)

    for module in (seen_objects, owners_wish, submit):
        patch.setattr(module, "suspended", either)


def sleeping(patch: Patch) -> None:
    """A held object is not woken when its policy comes."""
    taken = SettingsInForce.taken

    def unheard(self: SettingsInForce, one: HubObject) -> list[HubObject]:
        return [each for each in taken(self, one) if not each.manifest["metadata"].get("labels")]

    patch.setattr(SettingsInForce, "taken", unheard)


def unmindful(patch: Patch) -> None:
    """A held object is not woken when its template comes."""
    users = template_changes._users
    held = template_changes._handed_on

    def others(view: View, message: TemplateSeen) -> list[JobObject]:
        return [one for one in users(view, message) if held(one)]

    patch.setattr(template_changes, "_users", others)


def overwriting(patch: Patch) -> None:
    """What any attempt shows is written over what the hub's object shows, its end too."""
    see = statuses._see

    def believed(one: Any, job: Job, message: Any, version: str, now: int) -> None:
        one.shown.attempt = 0
        runs = msgspec.structs.replace(job, attempt=message.attempt, cluster=message.cluster, state=State.RUNNING)
        see(one, runs, message, version, now)

    patch.setattr(statuses, "_see", believed)
    patch.setattr(statuses, "_older", lambda version, newest: False)
    patch.setattr(statuses, "_follows", lambda one, shown, new: True)


def forgiving(patch: Patch) -> None:
    """A word on a job of the hub is acknowledged before its owner was told."""
    of_job = job_words.of_job

    def told(*given: Any) -> Decision:
        return msgspec.structs.replace(of_job(*given), kept=False)

    patch.setattr(decide, "of_job", told)


def stubborn(patch: Patch) -> None:
    """What an owner changes on the hub is not asked for."""
    patch.setattr(seen_objects, "wish_of", lambda one: "as it was")
    patch.setattr(owners_wish, "wish_of", lambda one: "as it was")


def clinging(patch: Patch) -> None:
    """A held object that was deleted stays in the store."""
    for module in (owners_wish, all_listed):
        patch.setattr(module, "released", lambda one: ())


def lawless(patch: Patch) -> None:
    """A setting that was deleted on the hub stays in force."""
    patch.setattr(judge, "_withdrawn", lambda *given: Decision())


def silent(patch: Patch) -> None:
    """An object that may not be submitted yet is passed over, and nobody is told why."""
    patch.setattr(submit, "_held", lambda view, known, why, now: None)


def repeating(patch: Patch) -> None:
    """A reason that was told of an attempt is told again when it comes back."""
    patch.setattr(tell, "_known", lambda message, reasons, last: ())


def labelling(patch: Patch) -> None:
    """With its status an object of the hub gets a label of Fairway's."""
    put_status = HubWrites._put_status

    async def labelled(self: HubWrites, place: Place, status: Json) -> bool:
        label = {"metadata": {"labels": {"fairway.io/shown": "true"}}}
        await self._hub.patch(place.kind, place.namespace, place.name, label)
        return await put_status(self, place, status)

    patch.setattr(HubWrites, "_put_status", labelled)


def twofold(patch: Patch) -> None:
    """The client of an object has its version in its name, so that who sees a changed one anew submits it again."""
    made = submit.submission_of
    said = noting._submitted

    def client(one: HubObject) -> str:
        return f"{HUB_CLIENT}{one.uid}:{(one.manifest.get('metadata') or {}).get('resourceVersion', '')}"

    def job(one: HubObject) -> str:
        return job_id(one.namespace, client(one), one.name)

    def versioned(view: View, one: HubObject, now: int, again: bool = False) -> Submission | None:
        before = made(view, one, now, again)
        if before is None:
            return None
        assert isinstance(before.say.message, wire.Submitted), "what a submission says"
        return as_said(msgspec.structs.replace(before.say.message, client=client(one), job=job(one)), again)

    def submitted(view: View, say: Say, message: wire.Submitted) -> None:
        said(view, say, message)
        if message.hub is not None and (known := view.objects.get(message.hub.uid)) is not None:
            known.job = message.job

    patch.setattr(noting, "_submitted", submitted)
    for module in (submit, noting):
        patch.setattr(module, "submission_of", versioned)
    for reader in (noting, memory):
        patch.setattr(reader, "client_of", lambda one: f"{one.namespace}/{client(one)}")
    for reader in (noting, seen_objects, memory):
        patch.setattr(reader, "job_of", job)


def outdated(patch: Patch) -> None:
    """The binding of a job that was cancelled says for ever that the job is where it was."""
    patch.setattr(bindings, "_placed", lambda job: bool(job.cluster))


def insisting(patch: Patch) -> None:
    """A write that the hub did not take is tried again on the spot, whoever has the lease by then."""
    once = HubWrites.__call__

    async def until_taken(self: HubWrites, call: Call) -> Outcome:
        while not (made := await once(self, call)).ok:
            await self._clock.sleep(1.0)
        return made

    patch.setattr(HubWrites, "__call__", until_taken)
    patch.setattr(HubWrites, "_hub", property(lambda self: self._reached))


def abandoning(patch: Patch) -> None:
    """A binding that was made after its object was deleted stays."""
    patch.setattr(decide, "unbind", lambda view, heard, message: Decision())
