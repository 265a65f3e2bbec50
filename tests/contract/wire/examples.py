"""One example of each message with every field set: what the golden bytes were made of.

A new field belongs here first; then `python -m tests.contract.wire.examples` writes the bytes anew. Change bytes that
are there only together with the version of the wire: somebody's stream holds messages that look like them.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.wire import asks, fleet, inbound, jobs
from fairway.wire.capacity import Node, Pods, Taint
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.spec import Companion, CompanionName, Found, RemovedManifest
from fairway.wire.workload import Expression, PodSet, Toleration, Workload
from tests.contract.wire import preemption_examples
from tests.contract.wire.parts import ADA, AT, GPU, HEAD, SLOTS, WHY

GOLDEN = Path(__file__).parent / "golden"
_VERDICTS = (jobs.Verdict("south", Code.NOT_ENOUGH, GPU, {"needed": 3, "by_node": 1}),)
_REF = jobs.ManifestRef(41, "9f" * 32, 1_024)
_COMPANION = Companion("Secret", "db", "6f1d", "813", "0c" * 32, "north has one of its own")
_HUB = jobs.HubRef("5f0c", "pytorchjobs")
_IN_ZONE = Expression("topology.kubernetes.io/zone", "In", ("a", "b"), field=True)
_TOLERATION = Toleration("gpu", "Equal", "yes", "NoSchedule")
_PODS = PodSet("Worker", 3, {"cpu": 4_000, GPU: 8}, {"gpu": "a100"}, ((_IN_ZONE,),), (_TOLERATION,))
_WORKLOAD = Workload("kubeflow.org/v1", "PyTorchJob", "team-a", "llm", (_PODS,), 3, "high")
_AFFINITY = Affinity("first", ("north",), ("west",), (Expression("gpu", "In", ("a100",)),))
_SPEC = jobs.JobSpec(
    workload=_WORKLOAD,
    priority=100,
    policy="PropagationPolicy team-a/llm",
    policy_version="12",
    attempts=4,
    placement=Placement((_AFFINITY,), (Toleration("spot", "Exists"),), gang=False),
    start_timeout=60_000,
    avoid=1_000,
    queue="gold",
    labels={"app": "llm"},
    manifest=_REF,
    hub=_HUB,
    client="team-a/hub:5f0c",
    follows=True,
    pod_security="restricted",
    tokens=True,
    companions=True,
    alone=True,
    policy_companions=(CompanionName("ConfigMap", "settings"),),
    who=ADA,
    unbounded=Placement((Affinity("first", ("north", "east")),)),
    evicts=False,
    evictable=False,
    evict_notice=30_000,
)
_TAINT = Taint("gpu", "NoSchedule", "yes")
_NODE = Node(
    "north-node-1",
    {"cpu": 64_000, GPU: 8},
    {"gpu": "a100"},
    (_TAINT,),
    False,
    {"cpu": 500},
    {"llm-k3v9q2/2": Pods({"Worker": 1}, {"cpu": 4_000, GPU: 8}, "team-a")},
    {"llm-k3v9q2/2": {"cpu": 4_000, GPU: 8}},
)
_OBJECT: dict[str, Any] = {"at": AT, "kind": "Queue", "namespace": "fleet", "name": "gold"}
_RETURN: dict[str, Any] = {**HEAD, "cluster": "north", "why": WHY}
_MANIFEST = Raw(b'{"kind":"PyTorchJob","metadata":{"name":"llm"}}')
_POLICY = Raw(b'{"kind":"PropagationPolicy"}')
_FOUND = Raw(
    msgspec.json.encode(
        Found(
            ("north", "south"),
            ((Code.FITS, ""), (Code.NOT_ENOUGH, GPU)),
            (0, 1),
            {"fits": {"needed": 3, "by_node": (8,)}, "short": {"needed": 3, "by_node": 1}},
            {"total": (812,)},
        )
    )
)
_SCORES = {"north": {"packing": 500, "total": 812}}

EXAMPLES: dict[str, Struct] = {
    "rebuild": jobs.Rebuild(**HEAD, owner="01J7", begun=40),
    "submitted": jobs.Submitted(
        **HEAD,
        manifest=_MANIFEST,
        policies=(_POLICY,),
        client="c-1",
        source="hub",
        hub=_HUB,
        who=ADA,
        refused=(WHY,),
    ),
    "admitted": jobs.Admitted(**HEAD, spec=_SPEC),
    "rejected": jobs.Rejected(
        **HEAD,
        reasons=(WHY,),
        kind="PyTorchJob",
        name="llm",
        client="team-a/c-1",
        manifest=_REF,
        hub=_HUB,
        api_version="kubeflow.org/v1",
    ),
    "queue": jobs.Queue(
        **HEAD,
        queue="gold",
        leaf=("root", "root/a"),
        enqueued_at=AT,
        why=WHY,
        verdicts=_VERDICTS,
        freed=9,
        found=_FOUND,
    ),
    "blocked": jobs.Blocked(**HEAD, why=WHY, gates=(WHY, WHY)),
    "amended": jobs.Amended(**HEAD, spec=_SPEC, queue="gold", leaf=("root", "root/a"), cluster="north"),
    "dequeued": jobs.Dequeued(
        **HEAD, path=("root", "root/a"), charge={GPU: 24}, woken_by="room", room="north", kept=True
    ),
    "placed": jobs.Placed(
        **HEAD,
        cluster="north",
        slots=SLOTS,
        verdicts=_VERDICTS,
        scores=_SCORES,
        affinity="first",
        seen=5,
        found=_FOUND,
    ),
    "reserved": jobs.Reserved(**HEAD, cluster="north", slots=SLOTS, expires_at=AT + 60_000, hold="placeholders"),
    "dispatched": jobs.Dispatched(**HEAD, cluster="north", uid="77aa", adopted=True, companions=(_COMPANION,)),
    "running": jobs.Running(**HEAD, cluster="north", text="3 of 3 pods are up", status={"active": 3}),
    "succeeded": jobs.Succeeded(**HEAD, cluster="north", text="Succeeded", status={"succeeded": 3}),
    "failed": jobs.Failed(**_RETURN, final=True, status={"failed": 1}),
    "lost": jobs.Lost(**_RETURN, final=True),
    "recall": jobs.Recall(**_RETURN, delete_at=AT + 30_000, grace=90_000),
    "removed": jobs.Removed(**HEAD, cluster="north"),
    "revise": jobs.Revise(
        **HEAD, manifest=_MANIFEST, policies=(_POLICY,), client="hub:5f0c", source="hub", hub=_HUB, who=ADA
    ),
    "revised": jobs.Revised(**HEAD, spec=_SPEC),
    "manifests_removed": jobs.ManifestsRemoved(
        **HEAD,
        removed=(
            RemovedManifest(41, "m6c1", "submitted", "9f" * 32, 1_024, AT, "hub:5f0c", "hub", _HUB, ADA, policies=1),
        ),
        kept=86_400_000,
        upto=40,
        handled=60,
    ),
    "unchanged": jobs.Unchanged(**HEAD, why=WHY, digest="9f" * 32),
    "adjust": jobs.Adjust(**HEAD, cluster="north", spec=_SPEC),
    "hold": jobs.HoldJob(**HEAD, held=True, who=ADA),
    "held": jobs.Held(**HEAD, held=True),
    "cancel": jobs.Cancel(**HEAD, who=ADA),
    "cancelled": jobs.Cancelled(**HEAD, who="ada"),
    **preemption_examples.EXAMPLES,
    "report": fleet.Report(
        at=AT,
        cluster="north",
        epoch="e1",
        sequence=3,
        full=True,
        nodes=(_NODE,),
        gone=("north-node-9",),
        labels={"gpu": "a100"},
        taints=(Taint("spot", "NoSchedule"),),
        kinds=("Job.batch/v1",),
        kubernetes="v1.33.1",
        holds=("reservations", "placeholders"),
        cordoned=True,
        left=True,
        mode="push",
    ),
    "stranded": fleet.Stranded(
        at=AT, cluster="north", attempts=(fleet.Strand("llm-1", 2, "n1", "has been NotReady", 61, "team-a"),)
    ),
    "shown": fleet.Shown(
        at=AT, job="llm-1", tenant="team-a", attempt=2, cluster="north", version="4711", status={"active": 2}
    ),
    "freed": fleet.Freed(
        at=AT,
        cluster="north",
        free={GPU: 12},
        largest={GPU: 8},
        count=4,
        labels={"region": "eu"},
        ready=("llm-k3v9q2",),
    ),
    "configured": fleet.Configured(**_OBJECT, manifest=Raw(b'{"kind":"Queue"}'), who=ADA),
    "audited": fleet.Audited(
        at=AT,
        who=ADA,
        does="get",
        resource="jobs.batch",
        namespace="team-a",
        name="llm",
        allowed=False,
        times=7,
    ),
    "config_refused": fleet.ConfigRefused(**_OBJECT, reasons=(WHY,)),
    "dead_letter": fleet.DeadLetter(
        at=AT,
        service="queue",
        subject="fairway.job.queue.team-a",
        id="m-41",
        stream="JOBS",
        sequence=42,
        why=WHY,
        data=b"\xff{",
        who=ADA,
        size=2_000_000,
        sha256="9f86d081884c7d659a2feaa0c55ad015" * 2,
    ),
    "submit_request": inbound.SubmitRequest(at=AT, manifest=_MANIFEST, policies=(_POLICY,), client="c-1"),
    "cancel_request": inbound.CancelRequest(at=AT, job="llm-k3v9q2"),
    "queue_ask": asks.QueueAsk("llm-k3v9q2", ("llm-2",)),
    "queue_place": asks.QueueAnswer(
        "gold",
        "Block",
        2,
        ("llm-1",),
        "BehindHead",
        "it is not its turn",
        3,
        ("llm-1",),
        (WHY,),
        "it is about to be tried",
        (asks.QueuePlace(""),),
    ),
}


def bytes_of(message: Struct) -> bytes:
    return msgspec.json.encode(message) + b"\n"


if __name__ == "__main__":
    for name, message in EXAMPLES.items():
        (GOLDEN / f"{name}.json").write_bytes(bytes_of(message))
