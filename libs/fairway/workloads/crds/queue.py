"""Queue: how jobs wait."""

from fairway.workloads.crds.crd import AGE, READY, SHORT_NAME, WHY, CrdKind, column, crd
from fairway.workloads.crds.schema import Json, obj, text, whole
from fairway.workloads.settings.queues import API_VERSION, KIND, POLICIES

_SPEC = obj(
    {
        "queuePolicy": text(
            "Priority (or Round): what does not fit is skipped. Block: the head waits and holds the others."
            " FIFO: Block, in order of time alone.",
            enum=list(POLICIES),
        ),
        "priority": whole(
            "Where jobs of several queues wait for the same, those of the queue with the highest number come first."
        ),
        "priorityClassName": text("Gives the priority where that is not set; a class that is not there gives 0."),
    }
)


def definition() -> Json:
    kind = CrdKind(
        api_version=API_VERSION,
        kind=KIND,
        plural="queues",
        about="A line in which jobs wait for their turn.",
        columns=(
            READY,
            column("Policy", ".spec.queuePolicy"),
            column("Priority", ".spec.priority", "integer"),
            AGE,
            WHY,
        ),
        required=(),
    )
    return crd(kind, _SPEC, SHORT_NAME)
