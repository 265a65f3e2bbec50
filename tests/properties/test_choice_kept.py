"""The choice on counts that are kept from one to the next, by compiled loops, is the choice on everything read anew, by
the same loops as they are written; and for one shape what the rules say in their plainest form: the cluster, the plan,
every verdict, every score, also as the record has them. Whatever happened before."""

from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.domain.recorded_verdicts import scores, verdicts
from fairway.domain.resources import Resources
from fairway.placement.choose import Choice, choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.scores import Weights
from fairway.placement.shapes import ask
from fairway.placement.verdicts.recorded import recorded
from fairway.placement.verdicts.sentences import what_would_help
from fairway.placement.verdicts.table import NUMBERS
from fairway.placement.verdicts.verdict import Context
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node, Slot, Taint
from fairway.wire.policy import Affinity, Placement
from fairway.wire.workload import Expression, PodSet, Toleration, Workload
from tests.properties.models.loops import as_written, compared_with_annotations, compiled
from tests.properties.models.placement import PODS, Model, apply
from tests.properties.models.plain_choice import choose as plainly

KIND = "Job.batch/v1"
CLUSTERS = ("c0", "c1", "c10", "c2")
NAMES = ("n0", "n1", "n10", "n2", "n3")
KEYS = ("j1/1", "j1/2", "j2/1", "j3/1")
AFFINITIES = (
    Affinity("named", ("c1", "c2")),
    Affinity("but", exclude=("c0",)),
    Affinity("zoned", labels=(Expression("zone", "In", ("a", "c")),)),
    Affinity("nowhere", ("c9",)),
    Affinity("any"),
)
WEIGHTS = (Weights(), Weights(0, 0, 0, 0, 5), Weights(1, 0, 7, 0, 0), Weights(0, 1, 0, 3, 0))
TAINTS = (Taint("own", "NoSchedule"), Taint("node.kubernetes.io/not-ready", "NoExecute"))


class Life:
    """A fleet as it is kept, the model from which it can be built anew at any time, and what may befall both."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.fleet = Fleet()
        self.models: dict[str, tuple[ClusterInfo, Model]] = {}
        for name in CLUSTERS[: self.draw.randint(1, 4)]:
            self.inform(name)
            for node in NAMES[: self.draw.randint(0, 5)]:
                self.change(name, "put", self.node(node))

    def now_and_then(self, often: float = 0.15) -> bool:
        return self.draw.random() < often

    def befall(self) -> None:
        name = self.draw.choice(CLUSTERS)
        what = self.draw.choice(("put", "put", "put", "remove", "hold", "hold", "drop", "inform", "leave"))
        if what == "inform" or name not in self.fleet:
            self.inform(name)
        elif what == "leave":
            if self.now_and_then(0.3):
                del self.models[name], self.fleet[name]
        elif what == "put":
            self.change(name, what, self.node(self.draw.choice(NAMES)))
        elif what == "remove":
            self.change(name, what, self.draw.choice(NAMES))
        elif what == "hold":
            nodes = self.draw.sample(NAMES, self.draw.randint(1, 3))
            slots = tuple(Slot("Worker", one, self.draw.randint(1, 3)) for one in nodes)
            self.change(name, what, self.draw.choice(KEYS), slots)
        else:
            self.change(name, what, self.draw.choice(KEYS))

    def change(self, name: str, what: str, *words: object) -> None:
        self.models[name][1].step(what, *words)
        apply(self.fleet[name], what, *words)

    def inform(self, name: str) -> None:
        info = ClusterInfo(
            name,
            labels={"zone": self.draw.choice("ab")} if self.now_and_then(0.7) else {},
            taints=(TAINTS[0],) if self.now_and_then(0.07) else (),
            kinds=() if self.now_and_then(0.07) else (KIND,),
            cordoned=self.now_and_then(0.07),
            observed_at=self.draw.choice((0, 1, *[20] * 12, 21)),
            epoch=self.draw.choice(("e1", "e2")),
        )
        model = self.models[name][1] if name in self.models else Model()
        self.models[name] = info, model
        if name in self.fleet:
            self.fleet[name].info = info
        else:
            self.fleet[name] = model.fresh(info)

    def node(self, name: str) -> Node:
        cores = self.draw.randint(2, 40)
        if self.now_and_then():  # so many pods that nodes are no longer told apart by them
            cores *= 10 ** self.draw.randint(1, 9)
        has = {"cpu": cores, "memory": self.draw.randint(0, 40)}
        if self.now_and_then(0.6):
            has["gpu.example/a"] = self.draw.randint(0, 8)
        if self.now_and_then(0.6):
            has["pods"] = self.draw.randint(0, 12)
        zone = {"zone": self.draw.choice("ab")} if self.now_and_then(0.6) else {}
        taints = (self.draw.choice(TAINTS),) if self.now_and_then() else ()
        holds = {self.draw.choice(KEYS): self.part(has)} if self.now_and_then(0.3) else {}
        used = self.part(has) if self.now_and_then(0.5) else {}
        return Node(name, has, zone, taints, not self.now_and_then(), used, holds=holds)

    def part(self, has: Resources) -> Resources:
        return {one: self.draw.randint(0, amount // 2 + 1) for one, amount in has.items()}

    def workload(self) -> Workload:
        drawn = [self.draw.choice(PODS) for _ in range(self.draw.randint(1, 3))]
        if self.now_and_then(0.7):  # as of a master and its workers
            drawn = [drawn[0]] * len(drawn)
        sets = tuple(
            PodSet(f"s{at}", self.draw.randint(1, 9), one.requests, one.node_selector, one.node_terms, one.tolerations)
            for at, one in enumerate(drawn)
        )
        pods = sum(one.count for one in sets)
        gang = pods if self.now_and_then(0.6) else self.draw.randint(1, pods)
        return Workload("batch/v1", "Job", "ns", "job", sets, gang)

    def ask(self) -> None:
        affinities = tuple(self.draw.choice(AFFINITIES) for _ in range(self.draw.choice((0, 0, 1, 2, 3))))
        tolerations = (Toleration(operator="Exists"),) if self.now_and_then(0.3) else ()
        context = Context(
            now=self.draw.choice((20, 20, 25, 30, 31)),
            stale_after=10,
            avoid={self.draw.choice(CLUSTERS): self.draw.choice((5, 30, 99))} if self.now_and_then(0.3) else {},
            weights=self.draw.choice(WEIGHTS),
        )
        workload = self.workload()
        placement = Placement(affinities, tolerations)
        chosen = choose(self.fleet, workload, placement, context)
        fresh = {name: model.fresh(info) for name, (info, model) in self.models.items()}
        with as_written():
            assert told(chosen) == told(choose(Fleet(fresh), workload, placement, context))
        if len(ask(workload).demand.parts) == 1:
            assert told(chosen) == plainly(fresh, workload, placement, context)
        assert [chosen.verdict_table.at(index) for index in range(len(fresh))] == list(chosen.verdicts)
        assert_recorded(chosen)


def told(choice: Choice) -> tuple[object, ...]:
    return choice.cluster, choice.plan, choice.affinity, choice.verdicts


def assert_recorded(choice: Choice) -> None:
    """What is read from the record is what was found, zeros apart."""
    message = wire.Placed(tenant="t", cluster="c", slots=(), found=recorded(choice.verdict_table))
    read = msgspec.json.decode(msgspec.json.encode(message), type=wire.Placed)
    assert [(one.cluster, one.code, one.about, one.numbers) for one in verdicts(read)] == [
        (one.cluster, one.code, one.about, {name: value for name in NUMBERS if (value := getattr(one, name))})
        for one in choice.verdicts
    ]
    assert scores(read) == {one.cluster: msgspec.structs.asdict(one.score) for one in choice.verdicts if one.score}


@settings(max_examples=60)  # a long life, on a machine with other things to do
@given(st.integers(0, 2**32))
def test_every_choice_is_the_plain_one(seed: int) -> None:
    compiled()
    life = Life(seed)
    for _ in range(25):
        life.ask()
        life.ask()
        life.befall()


def test_loops_are_given_what_they_were_compiled_for() -> None:
    compiled()
    with compared_with_annotations() as calls:
        for seed in range(20):
            life = Life(seed)
            for _ in range(10):
                life.ask()
                life.befall()
            what_would_help(choose(life.fleet, life.workload(), Placement(), Context(now=99)), Placement())
    assert all(calls.values()), calls


@given(st.lists(st.integers(0, 400), min_size=1, max_size=6), st.lists(st.integers(1, 900), min_size=1, max_size=4))
def test_nodes_that_take_more_pods_than_are_told_apart_are_counted_all_the_same(
    nodes: list[int], jobs: list[int]
) -> None:
    """One after the other, each with what those before it have left."""
    view = ClusterView(ClusterInfo("c", kinds=(KIND,), observed_at=20))
    for at, cores in enumerate(nodes):
        view.put(Node(f"n{at}", {"cpu": cores, "pods": 1000}))
    fleet = Fleet({"c": view})
    for at, count in enumerate(jobs):
        workload = Workload("batch/v1", "Job", "ns", f"job-{at}", (PodSet("w", count, {"cpu": 1}),), 1)
        chosen = choose(fleet, workload, Placement(), Context(now=20))
        assert told(chosen) == plainly({"c": view}, workload, Placement(), Context(now=20))
        if chosen.plan is not None:
            view.hold(f"job-{at}/1", chosen.plan.slots, {"w": {"cpu": 1}})
