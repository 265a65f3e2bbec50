"""Names that Fairway gives: derived, so that everybody who has the same parts gives the same name."""

import re

from fairway.domain.tell import message_id

# On a member copy: the uid of the hub object it stands for, to which its status is returned.
HUB_UID = "fairway.io/hub-uid"

_NOT_PLAIN = re.compile(r"[^a-z0-9-]+")


def job_id(namespace: str, client: str, name: str) -> str:
    """The id of the job that a client's submission makes: at most 51 characters, fit for a label and a subject."""
    plain = _NOT_PLAIN.sub("-", name.lower()).strip("-")[:40].rstrip("-") or "job"
    return f"{plain}-{message_id('job', namespace, client)[:10]}"
