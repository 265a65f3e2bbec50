"""Whether a job may be evicted for others, by the labels of its object, and with what notice, by an annotation."""

from typing import Any

from fairway.domain.quota.node_terms import duration
from fairway.workloads.reading.fields import Field, Problems, shown

# Of Koordinator and of ACK; "false" in either counts. On pods they speak to the schedulers of members, and not here.
PREEMPTIBLE_LABELS = ("quota.scheduling.koordinator.sh/preemptible", "quota.scheduling.alibabacloud.com/preemptible")
_WORDS = {"true": True, "false": False}
# Time to save its work before it is deleted, when it is evicted: a duration, as attributes of a quota tree have it.
EVICT_NOTICE = "fairway.io/evict-notice"
_LONGEST_MS = 24 * 3_600_000


def evictable_of(manifest: dict[str, Any]) -> bool:
    """Raises Refused for other words than true and false: else a typing error would get the job evicted."""
    problems = Problems()
    labels = Field(manifest, problems)["metadata"]["labels"]
    evictable = True
    for name in PREEMPTIBLE_LABELS:
        given = labels[name]
        if not given.given:
            continue
        word = given.text("true")
        if word not in _WORDS:
            given.wrong(f"is {shown(word)}", 'write "true" or "false", in quotes')
        evictable = evictable and _WORDS.get(word, True)
    problems.stop()
    return evictable


def evict_notice_of(manifest: dict[str, Any]) -> int:
    """In milliseconds. Raises Refused for what is no duration: else a typing error would cost the job its work."""
    problems = Problems()
    given = Field(manifest, problems)["metadata"]["annotations"][EVICT_NOTICE]
    notice = 0
    try:
        notice = duration(given.text("0s"))
    except ValueError as error:
        text, _, remedy = str(error).rpartition("; ")
        given.wrong(text, remedy)
    if notice > _LONGEST_MS:
        given.wrong(f"{shown(given.value)} is too long", "write 24h at most")
    problems.stop()
    return notice
