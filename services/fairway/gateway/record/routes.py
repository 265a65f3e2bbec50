"""The routes to what the record itself holds."""

from fairway.gateway.audit.audit_trail import AuditTrail
from fairway.gateway.callers import caller as rights
from fairway.gateway.callers.guarded_routes import Handler
from fairway.gateway.http.jobs import JobQuestions
from fairway.gateway.http.openapi import Operation, Parameter
from fairway.gateway.http.submit import Door
from fairway.gateway.record.dead_letters import DeadLetters, Letter, LetterPage
from fairway.gateway.record.manifests import JobManifest, Manifests
from fairway.runtime.ports import World

_LISTING = (
    Parameter("service", "only those of this service"),
    Parameter("limit", "how many, 1 to 100 (100)"),
    Parameter("continue", "what the page before said"),
)
_MANIFEST = Operation(
    "GET",
    "/v1/jobs/{id}/manifest",
    rights.MANIFEST,
    "Its manifest, as the record has it. That you read it stands in the audit.",
    {200: (JobManifest,)},
    (),
    (404, 409, 410),
)
_LETTERS = Operation(
    "GET", "/v1/dead-letters", rights.LETTERS, "Dead letters, oldest first, in pages.", {200: (LetterPage,)}, _LISTING
)
_LETTER = Operation(
    "GET",
    "/v1/dead-letters/{number}",
    rights.LETTER,
    "A dead letter; with the message in it if you may read the manifest of its job, which stands in the audit.",
    {200: (Letter,)},
    (),
    (404,),
)


def record_routes(world: World, jobs: JobQuestions, door: Door, trail: AuditTrail) -> list[tuple[Operation, Handler]]:
    letters = DeadLetters(world, door, trail)
    manifests = Manifests(world.bus, jobs.submitted, door, trail)
    return [(_MANIFEST, manifests.one), (_LETTERS, letters.list), (_LETTER, letters.one)]
