"""Queue: how jobs wait."""

from fairway.workloads.crds.parts import AGE, READY, STATUS, WHY, CrdKind, Json, column, crd, obj, rule, text, whole
from fairway.workloads.settings.queues import API_VERSION, KIND, POLICIES

_SPEC = obj(
    {
        "queuePolicy": text(
            "Priority (or Round): what does not fit is skipped. Block: the head waits and holds the others."
            " FIFO: Block, in order of time alone.",
            enum=list(POLICIES),
        ),
        "priority": whole("Orders queues among each other."),
        "priorityClassName": text("Gives the priority when it is not set."),
    }
)


def definition() -> Json:
    group, _, version = API_VERSION.partition("/")
    columns = (
        READY,
        column("Policy", ".spec.queuePolicy"),
        column("Priority", ".spec.priority", "integer"),
        AGE,
        WHY,
    )
    kind = CrdKind(group=group, version=version, kind=KIND, plural="queues", columns=columns)
    short = rule("size(self.metadata.name) <= 63", "metadata.name", "has more than 63 characters", "shorten it to 63")
    return crd(kind, "A line in which jobs wait for their turn.", {"spec": _SPEC, "status": STATUS}, short)
