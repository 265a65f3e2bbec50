"""What is said of manifests before they are deleted. Pure."""

from collections.abc import Iterator

import msgspec

from fairway.domain.decision import Say
from fairway.domain.events import message_id
from fairway.keeper.memory import DueManifests
from fairway.wire import jobs as wire
from fairway.wire import subjects

# With ids and client ids of the longest kind these are 200 KB. Who changes a job more often has more messages.
_MOST = 200


def removals(due: DueManifests, said: wire.ManifestsRemoved) -> Iterator[tuple[Say, tuple[int, ...]]]:
    """Each message with the places that it speaks of; two keepers give it the same id. `said` has what is the same in
    all of them. What was submitted is the last to be deleted: by it whoever goes on knows whose the others are."""
    for start in reversed(range(0, len(due.manifests), _MOST)):
        some = due.manifests[start : start + _MOST]
        places = tuple(one.sequence for one in some)
        message = msgspec.structs.replace(said, job=due.job, tenant=due.tenant, cause=due.cause, removed=some)
        name = message_id("keeper", due.job, due.tenant, *places)
        yield Say(name, subjects.job(message.verb, due.tenant), message), places[::-1]
