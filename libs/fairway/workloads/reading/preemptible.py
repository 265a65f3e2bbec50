"""Whether a job may be evicted for others, as the labels of its object say."""

from typing import Any

from fairway.workloads.reading.fields import Field, Problems, shown

# Of Koordinator and of ACK; "false" in either counts. On pods they speak to the schedulers of members, and not here.
PREEMPTIBLE_LABELS = ("quota.scheduling.koordinator.sh/preemptible", "quota.scheduling.alibabacloud.com/preemptible")
_WORDS = {"true": True, "false": False}


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
