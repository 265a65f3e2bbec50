"""What messages about a job are made of: what admission understood of it, where its manifest lies, and what the
scheduler found of each cluster."""

from msgspec import UNSET, Raw, Struct, UnsetType

from fairway.wire.capacity import AUTO
from fairway.wire.envelope import Actor
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

# A `Found` as it was written, and what stands in its place where nothing was looked for.
Written = Raw | UnsetType
NOTHING = UNSET
Column = int | tuple[int, ...] | bytes

# Which numbers an answer comes with, by name; answers of other codes come with none.
KINDS = {
    Code.FITS: "fits",
    Code.NOT_ENOUGH: "short",
    Code.FRAGMENTED: "short",
    Code.NEVER_FITS: "short",
    Code.CAPACITY_STALE: "stale",
    Code.RECENTLY_FAILED: "avoided",
}


class ManifestRef(Struct, frozen=True):
    """Where the manifest lies: the stream sequence of the `submitted` or `revise` that brought it, with its sha256 (and
    that of the policies with it) and size."""

    sequence: int
    sha256: str
    size: int


class Template(Struct, frozen=True, omit_defaults=True):
    """An object of the hub that a job's object refers to, such as a WorkflowTemplate, as it was when it was copied into
    the job's manifest. `kind` is `Kind.group/version`, `digest` that of its spec."""

    kind: str
    namespace: str
    name: str
    uid: str
    version: str
    digest: str


class HubRef(Struct, frozen=True, omit_defaults=True):
    """The object on the hub that this job stands for. `templates` are copied into the manifest, and `wish` is a digest
    of the object as its owner wrote it, where that is another than the manifest."""

    uid: str
    plural: str = ""
    templates: tuple[Template, ...] = ()
    wish: str = ""


class RemovedManifest(Struct, frozen=True, omit_defaults=True):
    """What stays of a message whose manifest was removed from the record: its place, its id, its verb, and what was in
    it beside the manifest and the policies, of which `policies` is the number. `sha256` is that of all of these, `size`
    that of the manifest."""

    sequence: int
    id: str
    said: str
    sha256: str
    size: int
    at: int = 0
    client: str = ""
    source: str = ""
    hub: HubRef | None = None
    who: Actor | None = None
    policies: int = 0


class CompanionName(Struct, frozen=True):
    """An object of the hub in the namespace of the job."""

    kind: str
    name: str


class JobSpec(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What admission understood; `amended` may change it. Durations are in milliseconds.

    `follows`: the policy is the hub's, not one that came along with the job, so that its changes count. `unbounded` is
    the placement as the policy has it, where the job's namespace may use fewer clusters than that.
    `pod_security` is the level of the Pod Security Standards that its pods were admitted at, `tokens` whether its pods
    may have a token of their service account mounted; `who` submitted it. `companions`: its pods or its policy name
    ConfigMaps, Secrets, service accounts or claims; `policy_companions` are those that its policy names, which go along
    whatever it says of the others; `alone`: those that its pods name do not go along, as its policy says.
    `evicts`: others may be evicted for it (not where its PriorityClass has preemptionPolicy Never); `evictable`: it may
    be evicted for others (not where it is labelled as not preemptible), with `evict_notice` before its deletion.
    """

    workload: Workload
    priority: int = 0
    policy: str
    policy_version: str = ""
    placement: Placement
    unbounded: Placement | None = None
    attempts: int = 3
    start_timeout: int = 300_000
    avoid: int = 600_000
    queue: str = ""
    labels: dict[str, str] = {}
    manifest: ManifestRef
    hub: HubRef | None = None
    client: str = ""
    follows: bool = False
    reserve: str = AUTO
    pod_security: str = ""
    tokens: bool = False
    who: Actor | None = None
    companions: bool = False
    alone: bool = False
    policy_companions: tuple[CompanionName, ...] = ()
    evicts: bool = True
    evictable: bool = True
    evict_notice: int = 0


class Companion(Struct, frozen=True, omit_defaults=True):
    """What went along with an attempt: which object of the hub, its `uid` and resource `version` there, and a `digest`
    of its content, which for a Secret only the fleet's key gives. `why`: it was not sent, and what the cluster has
    counts."""

    kind: str
    name: str
    uid: str = ""
    version: str = ""
    digest: str = ""
    why: str = ""


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What the scheduler found of one cluster, as a code and numbers (see placement.verdicts.verdict for their
    meaning); `about` names the label, taint, kind or resource. placement.verdicts.recorded puts it into words."""

    cluster: str
    code: Code
    about: str = ""
    numbers: dict[str, int] = {}


# In columns: clusters are named once, numbers of one name stand together. It is most of a placement's record and read
# only by who asks why. So messages carry it as it was `Written`, and whoever passes one on neither takes it apart nor
# writes it again.
class Found(Struct, frozen=True, omit_defaults=True):
    """`answers` are the distinct ones, as a code and what it is about (see `Verdict`); `answer` says for each of the
    `clusters` which is its own, by its place. `numbers` are by kind of answer (`fits`, `short`: NotEnough, Fragmented,
    NeverFits; `stale`, `avoided`) and name: one that holds for all clusters of that kind, or one for each of them in
    order. `scores` are those of the clusters that fit, likewise; where there is no `total` of them it is their sum with
    these `weights`, in their order. Numbers as bytes: the first says how many bytes each of the others has, the lowest
    first; eight have a sign. What is too large to go along stands in the stream FOUND at the place `at`, as record
    `record` of what is stored there (`views.FoundBatch`), and nothing else is here."""

    clusters: tuple[str, ...] = ()
    answers: tuple[tuple[Code, str], ...] = ()
    answer: Column = 0
    numbers: dict[str, dict[str, Column]] = {}
    scores: dict[str, Column] = {}
    weights: tuple[int, ...] = ()
    at: int = 0
    record: int = 0


class FoundRef(Struct, omit_defaults=True):
    """A `Found` that stands in FOUND, as whoever decides has it: where, is known once it is stored, and filled in
    before anything is said of it. `at` 0: it could not be stored."""

    at: int = 0
    record: int = 0
