"""Why a job was refused, why it waits, why an attempt ended: a code for programs, a sentence for people."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Code(StrEnum):
    """One word per cause. The value stands on the wire and in conditions (CamelCase, as in Kubernetes)."""

    # Refused at the door.
    INVALID = "Invalid"
    UNKNOWN_KIND = "UnknownKind"
    NO_POLICY = "NoPolicy"
    TWO_POLICIES = "TwoPolicies"
    UNKNOWN_PRIORITY_CLASS = "UnknownPriorityClass"
    UNKNOWN_QUEUE = "UnknownQueue"
    DUPLICATE = "Duplicate"
    TOO_LARGE = "TooLarge"
    UNKNOWN_QUOTA = "UnknownQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    EXCEEDS_MIN_QUOTA = "ExceedsMinQuota"
    # Waiting.
    QUEUED = "Queued"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    BEHIND_HEAD = "BehindHead"
    WAITING_FOR_ROOM = "WaitingForRoom"
    NO_CLUSTER_EVER = "NoClusterEver"
    UNKNOWN_CLUSTER = "UnknownCluster"
    WAITING_FOR_REMOVAL = "WaitingForRemoval"
    ROOM_TAKEN = "RoomTaken"
    # Verdict on one cluster.
    FITS = "Fits"
    NOT_SELECTED = "NotSelected"
    KIND_NOT_SERVED = "KindNotServed"
    LABELS_DIFFER = "LabelsDiffer"
    TAINTED = "Tainted"
    CAPACITY_STALE = "CapacityStale"
    CAPACITY_UNKNOWN = "CapacityUnknown"
    RECENTLY_FAILED = "RecentlyFailed"
    NOT_ENOUGH = "NotEnough"
    FRAGMENTED = "Fragmented"
    NEVER_FITS = "NeverFits"
    # An attempt ended.
    JOB_FAILED = "JobFailed"
    START_TIMEOUT = "StartTimeout"
    VANISHED = "Vanished"
    CLUSTER_LOST = "ClusterLost"
    NAME_CONFLICT = "NameConflict"
    APPLY_REFUSED = "ApplyRefused"
    RESERVATION_EXPIRED = "ReservationExpired"
    ATTEMPTS_EXHAUSTED = "AttemptsExhausted"
    CANCELLED = "Cancelled"
    # A message that could not be handled.
    UNDECODABLE = "Undecodable"
    HANDLER_FAILED = "HandlerFailed"
    # An attempt ended, too.
    NODE_LOST = "NodeLost"
    GANG_DOWN = "GangDown"
    EDITED = "Edited"
    WEBHOOK_FAILED = "WebhookFailed"
    # What a decision was made on cannot be told.
    VIEW_NOT_STORED = "ViewNotStored"
    VIEW_NOT_KEPT = "ViewNotKept"
    VIEW_LEFT_OUT = "ViewLeftOut"
    # A setting of the hub that waits for another one to go.
    ANOTHER_IN_FORCE = "AnotherInForce"
    # A cluster that is to leave the fleet: as a verdict, and of an attempt that is moved away from it.
    CORDONED = "Cordoned"
    # A dead letter that is not said again: it holds no message, nobody would act on it, or not yet.
    NO_MESSAGE = "NoMessage"
    OVERTAKEN = "Overtaken"
    TOO_SOON = "TooSoon"
    # Nothing is given up: most of the fleet is silent at once.
    FLEET_SILENT = "FleetSilent"
    # Refused at the door, or kept waiting before it: the tenant submits too much.
    TOO_MANY_PENDING = "TooManyPending"
    TOO_FAST = "TooFast"
    TOO_MANY_BYTES = "TooManyBytes"
    # Refused at the door: what its pods ask for may hurt others, the quota or queue is somebody else's, or its
    # namespace is the system's.
    UNSAFE_POD = "UnsafePod"
    NOT_YOUR_QUOTA = "NotYourQuota"
    RESERVED_NAMESPACE = "ReservedNamespace"
    # A door does not know who asks, or who asks may not do that.
    UNAUTHENTICATED = "Unauthenticated"
    FORBIDDEN = "Forbidden"
    # A message that cannot be published, and one that does not belong where it was said.
    UNSAYABLE = "Unsayable"
    WRONG_SUBJECT = "WrongSubject"
    # What a cluster reports is beyond what it was joined with, and counts when an operator has confirmed it.
    UNCONFIRMED_CAPACITY = "UnconfirmedCapacity"
    # An object in a member that says it is ours and does not carry our seal.
    NO_SEAL = "NoSeal"
    # An attempt ended, too: its room was lent and is asked back, or is for a job of higher priority.
    RECLAIMED = "Reclaimed"
    PREEMPTED = "Preempted"
    # A claim on others' room came to nothing: no set of them would do, room or quota went another way meanwhile, room
    # came by itself, it took too long, or the job is not to go now.
    NO_VICTIMS = "NoVictims"
    CLAIM_OVERTAKEN = "ClaimOvertaken"
    CLAIM_NOT_NEEDED = "ClaimNotNeeded"
    CLAIM_EXPIRED = "ClaimExpired"
    CLAIM_WITHDRAWN = "ClaimWithdrawn"
    # Waiting, too: room is kept for the job, and attempts on it are on their way out.
    WAITING_FOR_EVICTIONS = "WaitingForEvictions"
    # An attempt ended, too: the job's namespace is there in the member and was not given to Fairway.
    FOREIGN_NAMESPACE = "ForeignNamespace"
    # And so: the job's namespace is on its way out in the member, and was for as long as the room could be kept.
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    # Refused: the policies of a namespace are too many, or together too large.
    TOO_MANY_POLICIES = "TooManyPolicies"
    # Waiting: its owner holds it.
    SUSPENDED = "Suspended"
    # A change to a job that is not taken over: fields that are fixed while an attempt is there, more room than the
    # attempt has, an attempt that is on its way into its cluster, and an object that is another one.
    NOT_CHANGEABLE = "NotChangeable"
    NEEDS_ROOM = "NeedsRoom"
    BEING_STARTED = "BeingStarted"
    ANOTHER_OBJECT = "AnotherObject"
    # An attempt ended, too: what the job's pods name may not go along; or a Secret of it would have to go over the bus.
    COMPANION_REFUSED = "CompanionRefused"
    SECRET_NOT_SENT = "SecretNotSent"
    # Waiting before the door: it refers to a template that the hub does not have.
    UNKNOWN_TEMPLATE = "UnknownTemplate"
    # Refused, and on the hub kept waiting before the door: it is one of several pods that start together.
    GANG_OF_PODS = "GangOfPods"
    # An attempt ended, too: the batch resources that it ran on, or was to run on, became less.
    BATCH_SHRUNK = "BatchShrunk"
    # Sent back: no cluster has the batch resources that it runs on where there are any, and normal ones are next.
    NO_BATCH_ROOM = "NoBatchRoom"
    # A later version's, which this one does not know; its sentence says what it is.
    UNKNOWN = "Unknown"

    @classmethod
    def _missing_(cls, value: object) -> "Code | None":
        """So that what a later version says is read by this one while both are there."""
        return cls.UNKNOWN if isinstance(value, str) else None


# No cluster that there is can ever hold the job.
HOPELESS = (Code.NO_CLUSTER_EVER, Code.UNKNOWN_CLUSTER)


class Reason(Struct, frozen=True, omit_defaults=True):
    """`field` is the path of the offending input (refusals only); `text` says the cause with its numbers;
    `remedy` what to do about it."""

    code: Code
    text: str
    field: str = ""
    remedy: str = ""


def together(reasons: Sequence[Reason]) -> Reason:
    """Several as one: each in its words, and what to do about the first."""
    first = reasons[0]
    if len(reasons) == 1:
        return first
    text = "; ".join(f"{one.field}: {one.text}" if one.field else one.text for one in reasons)
    return Reason(first.code, text, remedy=first.remedy)


class Refused(ValueError):
    """Input that is refused, with every reason that was found."""

    def __init__(self, *reasons: Reason) -> None:
        super().__init__("; ".join(f"{reason.field or reason.code.value}: {reason.text}" for reason in reasons))
        self.reasons = reasons
