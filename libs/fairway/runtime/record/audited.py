"""What is said for the audit. Pure."""

import msgspec

from fairway.domain.decision import Say
from fairway.domain.events import message_id
from fairway.wire import fleet, subjects


def audited(service: str, deed: fleet.Audited) -> Say:
    """The same of one request is said once. The groups of whoever did it are not kept: they change."""
    who = msgspec.structs.replace(deed.who, groups=())
    about = (deed.does, deed.resource, deed.namespace, deed.name, deed.allowed)
    key = message_id("audited", service, who.user, who.request, deed.at, *about)
    return Say(key, subjects.audited(service, who.user), msgspec.structs.replace(deed, who=who))
