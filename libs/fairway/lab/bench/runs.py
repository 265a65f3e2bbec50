"""The benchmarks' options, each written once: fields are what a run is made of, and those with an Option are asked for
on the command line. The first paragraph of a docstring is the command's help."""

from typing import Annotated

import typer
from msgspec import Struct

Warmup = Annotated[int, typer.Option(min=1, help="jobs before the measurement")]
Window = Annotated[int, typer.Option(min=1, help="most jobs under way at a time")]
Clusters = Annotated[int, typer.Option(min=1)]
Nodes = Annotated[int, typer.Option(min=1, help="nodes of each cluster")]
Sizes = Annotated[tuple[int, ...], typer.Option(help="numbers of clusters, with commas between")]
Tenants = Annotated[int, typer.Option(min=1)]
Seed = Annotated[int, typer.Option(help="of the mix of jobs")]
Processes = Annotated[int, typer.Option(help="over how many processes the services are spread: 1 to 4, or 7")]
OfTree = Annotated[str, typer.Option(help="as the quota tree says it; without it Fairway's own")]
Victims = Annotated[tuple[int, ...], typer.Option(help="of one claim in a whole fleet, with commas between")]
ForEachNumber = Annotated[int, typer.Option(min=1, help="for each number of clusters")]


class PipelineRun(Struct, frozen=True):
    """Jobs per second from submitted to dispatched, and latency at half that rate; cluster calls are stubbed.

    `jobs` are measured at saturation, after `warmup` jobs; a quarter as many follow at half that rate. With several
    `servers` of NATS each has a copy of every stream.
    """

    jobs: Annotated[
        int, typer.Option(min=1, help="measured at saturation; a quarter as many follow at half the rate")
    ] = 100_000
    warmup: Warmup = 2_000
    clusters: Clusters = 100
    nodes: Nodes = 100
    tenants: Tenants = 50
    processes: Processes = 2
    window: Window = 2_000
    seed: Seed = 1
    sync: Annotated[str, typer.Option(help="how often NATS writes to the disk: `2m`, or `always`")] = "2m"
    servers: Annotated[int, typer.Option(help="of NATS: 1, or 3 with a copy of every stream each")] = 1


class RecordingRun(Struct, frozen=True):
    """What recording takes of a job: the recorders' own processor time in the pipeline, and what `VIEWS` gets.

    It is counted step by step in their threads, so that other work on the machine adds little to it.
    """

    jobs: Annotated[int, typer.Option(min=1, help="that are dispatched to stubbed clusters, at saturation")] = 6_000
    ended: Annotated[int, typer.Option(min=1, help="that run and end in simulated clusters")] = 2_000
    warmup: Annotated[int, typer.Option(min=1, help="jobs before each measurement")] = 1_000
    clusters: Clusters = 100
    nodes: Nodes = 100
    tenants: Tenants = 50
    processes: Processes = 2
    window: Window = 2_000
    few: Annotated[int, typer.Option(min=1, help="most jobs under way at a time in simulated clusters")] = 200
    seed: Seed = 1


class DecisionsRun(Struct, frozen=True):
    """The scheduler's decisions alone, with what they say of every cluster; no bus, no store.

    `batch` messages are decided on together, and rows read before each batch, as the service's loop does.
    """

    sizes: Sizes = (100, 1_000)
    nodes: Nodes = 100
    decisions: Annotated[int, typer.Option(min=2, help="at each number of clusters")] = 10_000
    warmup: Annotated[int, typer.Option(min=1, help="decisions before those")] = 2_000
    batch: Annotated[int, typer.Option(min=1, help="messages that are decided on together")] = 64
    seed: Seed = 1


class EvictRun(Struct, frozen=True):
    """Whom to evict for a gang that waits, how many more go than have to, how long it takes from claim to recall."""

    clusters: Annotated[int, typer.Option(min=1)] = 1_000
    nodes: Nodes = 100
    candidates: Annotated[int, typer.Option(min=1, help="attempts that may be evicted")] = 4_096
    busy: Annotated[tuple[int, ...], typer.Option(help="in so many clusters, with commas between")] = (1_000, 100)
    seeds: Annotated[int, typer.Option(min=1, help="fleets for each of these numbers")] = 3
    rounds: Annotated[int, typer.Option(min=1, help="how often each gang asks")] = 20
    small: Annotated[int, typer.Option(min=1, help="small cases that are compared with every set of victims")] = 300
    victims: Victims = (64, 2_000)
    claims: Annotated[int, typer.Option(min=1, help="with each of these numbers")] = 5
    owners: Annotated[int, typer.Option(min=0, help="jobs that each claim one GPU, all at once")] = 4_000


class ScrapeRun(Struct, frozen=True):
    """One scrape of the metrics of a process that tells everything of a large fleet; no bus, no store."""

    clusters: Annotated[int, typer.Option(min=1)] = 1_000
    queues: Annotated[int, typer.Option(min=1)] = 200
    nodes: Annotated[int, typer.Option(min=1, help="of each cluster")] = 20
    jobs: Annotated[int, typer.Option(min=0, help="that wait")] = 20_000
    scrapes: Annotated[int, typer.Option(min=1)] = 20


class KubernetesRun(Struct, frozen=True):
    """Jobs applied on a hub until they exist in one of three members, all of real API servers on this machine.

    `freed` times a job waits for another to end.
    """

    jobs: Annotated[int, typer.Option(min=1, help="applied in one burst")] = 600
    warmup: int = 60
    calm: Annotated[int, typer.Option(min=1, help="applied one by one, at --rate a second")] = 80
    rate: Annotated[float, typer.Option(min=0.1)] = 2.0
    freed: Annotated[int, typer.Option(min=1, help="how often a job waits for another's room")] = 20


class AgentRun(Struct, frozen=True):
    """One agent beside a real API server: its start, its processor time and memory, and how late its reports are."""

    nodes: Annotated[int, typer.Option(min=1)] = 5_000
    pods: Annotated[int, typer.Option(min=1, help="that stay, beside those that come and go")] = 100_000
    events: Annotated[int, typer.Option(min=1, help="pod changes a second")] = 100
    seconds: Annotated[int, typer.Option(min=1, help="how long they are measured")] = 60


class KueueRun(Struct, frozen=True):
    """Kueue's performance test, seven in ten jobs small and one large: how long it takes, how well quota is used."""

    clusters: Sizes = (1, 8)
    cohorts: Annotated[int, typer.Option(min=1)] = 5
    queues: Annotated[int, typer.Option(min=1, help="in each cohort, with a nominal quota of 20 CPUs")] = 6
    jobs: Annotated[int, typer.Option(min=10, help="in each queue: a multiple of ten")] = 500
    patience: OfTree = ""
    order: OfTree = ""
    sync: str = "2m"


class WakeUpRun(Struct, frozen=True):
    """Everything is full and room for one job is freed: how long until it is taken, and how many are woken for it.

    The first `warmup` rounds do not count.
    """

    jobs: Annotated[int, typer.Option(min=20, help="that wait, of 20 shapes")] = 10_000
    rounds: Annotated[int, typer.Option(min=1, help="how often room for one job is freed")] = 200
    warmup: int = 5
    clusters: Clusters = 20
    nodes: Nodes = 50
    processes: Processes = 2
    window: int = 1_000
    seed: int = 1


class BacklogRun(Struct, frozen=True):
    """Very many jobs wait: the memory of the services, how soon `get jobs` and `why` are answered, who goes next.

    A slot is freed of a quota and of a cluster in turn.
    """

    jobs: Annotated[int, typer.Option(min=200, help="that wait: nine of ten behind a full quota")] = 100_000
    asked: Annotated[int, typer.Option(min=1, help="how often a page of jobs, and why one waits, is asked for")] = 50
    rounds: Annotated[int, typer.Option(min=1, max=80, help="how often a slot is freed")] = 20
    tenants: Annotated[int, typer.Option(min=1, help="with a full quota; at least half as many as --rounds")] = 40
    clusters: Clusters = 20
    nodes: Nodes = 20
    processes: Processes = 2
    window: int = 2_000
    seed: int = 1


class RebuildRun(Struct, frozen=True):
    """The store is wiped: how long until jobs are dispatched again, and whether everything is as it was."""

    jobs: Annotated[int, typer.Option(min=1, help="that are in their clusters")] = 100_000
    waiting: Annotated[int, typer.Option(min=20, help="that wait behind a full quota")] = 1_000
    clusters: Clusters = 100
    nodes: Nodes = 100
    tenants: Tenants = 50
    processes: Processes = 2
    window: int = 2_000
    seed: int = 1


class WorkersRun(Struct, frozen=True):
    """One, two and four instances of each stage; then of each one is killed, and one stopped, under load.

    What goes when is drawn from the seed. The queue that works, and the hub's service, are killed `takeovers` times
    each, and stopped as often.
    """

    jobs: Annotated[int, typer.Option(min=1, help="for each number, and at least as many while they change")] = 10_000
    instances: Annotated[tuple[int, ...], typer.Option(help="how many of each stage, with commas between")] = (1, 2, 4)
    takeovers: Annotated[int, typer.Option(min=1, help="how often queue and hub are killed, and how often stopped")] = 5
    warmup: Warmup = 1_000
    clusters: Clusters = 100
    nodes: Nodes = 100
    tenants: Tenants = 50
    window: Window = 2_000
    seed: int = 1


class ClustersRun(Struct, frozen=True):
    """The pipeline with few clusters and with very many: whether the rate stays, what agents and the cache take.

    Each agent reports every `every_s` seconds; on `changes` of its nodes a stranger's pod came or went meanwhile.
    """

    sizes: Sizes = (3, 30, 300, 1_000)
    jobs: ForEachNumber = 10_000
    warmup: Warmup = 1_000
    nodes: Nodes = 100
    changes: int = 5
    every_s: float = 10.0
    tenants: int = 50
    processes: Processes = 2
    window: Window = 2_000
    seed: int = 1


class AllocationRun(Struct, frozen=True):
    """How much of a fleet's GPUs pods of a trace get that come one after the other and do not end; nothing runs.

    As the simulator of the FGD paper does it: pods are drawn from the file, with replacement, until they ask for 130 %
    of all GPUs, and one that finds no room is gone. Once for each seed, on the nodes of `openb_node_list_gpu_node.csv`
    beside the file. With `parts` a row that asks for a part of a GPU gets a whole one, or is never drawn.
    """

    trace: Annotated[str, typer.Argument(help="openb")]
    file: Annotated[str, typer.Argument(help="a pod list of it; the list of its GPU nodes is beside it")]
    clusters: Annotated[
        tuple[int, ...], typer.Option(help="over how many clusters Fairway has the nodes, with commas between")
    ] = (1, 8)
    by: Annotated[str, typer.Option(help="how nodes are split into clusters: model, or round-robin")] = "model"
    seeds: Annotated[int, typer.Option(min=1, help="how many draws of pods")] = 10
    parts: Annotated[str, typer.Option(help="rows that ask for a part of a GPU: whole, or left-out")] = "whole"


class IdleRun(Struct, frozen=True):
    """How much of what online pods leave idle Spark jobs use in a day, and what it costs them; on a virtual clock.

    On nodes, online pods and best-effort pods of the openb trace; `openb_node_list_all_node.csv` is beside the file.
    """

    trace: Annotated[str, typer.Argument(help="openb")]
    file: Annotated[str, typer.Argument(help="a pod list of it; the list of all nodes is beside it")]
    clusters: Clusters = 8
    nodes: Nodes = 4
    demand: Annotated[int, typer.Option(min=1, help="what jobs ask for, in percent of what is idle in the day")] = 80
    evict: Annotated[bool, typer.Option(help="koordlets evict pods, which they do where it is configured")] = True
    stage: Annotated[int, typer.Option(min=0, help="minutes of work that go with an executor; 0: all that it did")] = 0
    quick: Annotated[bool, typer.Option("--quick", help="two nodes in each cluster")] = False
    seed: Annotated[int, typer.Option(help="of what online pods use, and of the jobs that come")] = 1
