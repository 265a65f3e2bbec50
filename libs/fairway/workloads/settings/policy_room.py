"""What a job runs on that says nothing of it itself: as its policy says."""

from collections.abc import Mapping
from typing import Any

from fairway.wire.workload import Workload
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.reading.batch_marks import check_converted, under_policy
from fairway.workloads.reading.fields import Field, Problems


def in_room_of(room: str, workload: Workload, manifest: dict[str, Any], kinds: Mapping[str, Kind] = KINDS) -> Workload:
    """The job on what its policy says that its jobs run on. Raises Refused. Of a manifest that the typed reader took
    there may be no more than its head: that reader leaves to this one what is refused here."""
    found = under_policy(workload, manifest["metadata"].get("annotations") or {}, room)
    if found is not workload and "spec" in manifest:
        problems = Problems()
        check_converted(found, kinds[found.key].kept_from_batch(Field(manifest, problems)))
        problems.stop()
    return found
