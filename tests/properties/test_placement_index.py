"""The shape index kept up to date says what an index built from nothing says, whatever happened before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.domain.resources import Resources
from fairway.placement import cluster as module
from fairway.placement.cluster import ClusterView, taken
from fairway.placement.index import room
from fairway.placement.shapes import shape
from fairway.wire.capacity import ClusterInfo, Node, Slot, Taint
from fairway.wire.workload import Expression, PodSet, Toleration

REQUESTS = {"Worker": {"cpu": 2, "gpu.example/a": 1}}
PODS = [
    PodSet("gpu", 1, {"cpu": 1, "gpu.example/a": 1}),
    PodSet("cpu", 1, {"cpu": 1, "memory": 2}),
    PodSet("none", 1, {}),
    PodSet("zone", 1, {"cpu": 1}, node_selector={"zone": "a"}),
    PodSet("not-zone", 1, {"memory": 3}, node_terms=((Expression("zone", "NotIn", ("a",)),),)),
    PodSet("tolerant", 1, {"cpu": 2}, tolerations=(Toleration(operator="Exists"),)),
]
NAMES = st.sampled_from(["n0", "n1", "n2", "n3", "n10"])
KEYS = st.sampled_from(["j1/1", "j1/2", "j2/1"])
AMOUNTS = st.fixed_dictionaries(
    {"cpu": st.integers(0, 9), "memory": st.integers(0, 9)},
    optional={"gpu.example/a": st.integers(0, 4), "pods": st.integers(0, 6)},
)
TAINTS = st.sampled_from([(), (Taint("own", "NoSchedule"),), (Taint("node.kubernetes.io/not-ready", "NoExecute"),)])
NODES = st.builds(
    Node,
    name=NAMES,
    allocatable=AMOUNTS,
    labels=st.sampled_from([{}, {"zone": "a"}, {"zone": "b"}]),
    taints=TAINTS,
    schedulable=st.booleans(),
    used=st.one_of(st.just({}), AMOUNTS),
    holds=st.dictionaries(KEYS, AMOUNTS, max_size=2),
)
SLOTS = st.lists(st.builds(Slot, st.just("Worker"), NAMES, st.integers(1, 3)), min_size=1, max_size=3).map(tuple)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NODES),
        st.tuples(st.just("remove"), NAMES),
        st.tuples(st.just("hold"), KEYS, SLOTS),
        st.tuples(st.just("drop"), KEYS),
        st.tuples(st.just("ask"), st.sampled_from(PODS)),
    ),
    max_size=30,
)


class Model:
    """The rules of put, remove, hold and drop in the plainest form: two dictionaries."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.assumed: dict[str, tuple[Slot, ...]] = {}

    def step(self, what: str, *words: object) -> None:
        match what, *words:
            case "put", Node() as node:
                self.nodes[node.name] = node
                for key in node.holds:
                    self.assumed.pop(key, None)
            case "remove", str() as name:
                self.nodes.pop(name, None)
            case "hold", str() as key, tuple() as slots:
                self.assumed.pop(key, None)
                if not any(key in node.holds for node in self.nodes.values()):
                    self.assumed[key] = slots
            case "drop", str() as key:
                self.assumed.pop(key, None)

    def free(self, name: str) -> Resources:
        node = self.nodes[name]
        takes = [node.used, *node.holds.values()]
        takes += [taken(slots, REQUESTS).get(name, {}) for slots in self.assumed.values()]
        return {one: amount - sum(take.get(one, 0) for take in takes) for one, amount in node.allocatable.items()}

    def fresh(self) -> ClusterView:
        view = ClusterView(ClusterInfo("c"))
        for key, slots in self.assumed.items():
            view.hold(key, slots, REQUESTS)
        for node in reversed(self.nodes.values()):
            view.put(node)
        return view


def apply(view: ClusterView, what: str, *words: object) -> None:
    match what, *words:
        case "put", Node() as node:
            view.put(node)
        case "remove", str() as name:
            view.remove(name)
        case "hold", str() as key, tuple() as slots:
            view.hold(key, slots, REQUESTS)
        case "drop", str() as key:
            view.drop(key)
        case "ask", PodSet() as pods:
            view.row(shape(pods))


def known(view: ClusterView) -> list[object]:
    """All that the index knows, for every shape; a sum of zero is the same as none."""
    facts: list[object] = [view.totals, list(view.nodes.items())]
    for pods in PODS:
        row = view.row(shape(pods))
        facts += [row.counts, row.fixed, row.total, row.plain, row.ever, row.tiers, row.sizes]
        region = view.region(row.where)
        for one in (region.free, region.whole):
            facts += [one.nodes, one.unlisted, {name: left for name, left in one.amounts.items() if left}]
    return facts


@given(STEPS)
def test_an_index_kept_up_to_date_equals_one_built_from_nothing(steps: list[tuple[object, ...]]) -> None:
    view, model = ClusterView(ClusterInfo("c")), Model()
    for what, *words in steps:
        apply(view, str(what), *words)
        model.step(str(what), *words)
    assert {name: view.free(name) for name in view.nodes} == {name: model.free(name) for name in sorted(model.nodes)}
    assert known(view) == known(model.fresh())


@given(STEPS)
def test_the_sum_of_a_shape_is_the_sum_of_what_each_open_node_takes(steps: list[tuple[object, ...]]) -> None:
    view, model = ClusterView(ClusterInfo("c")), Model()
    for what, *words in steps:
        apply(view, str(what), *words)
        model.step(str(what), *words)
    bare = [one for one in model.nodes.values() if one.schedulable and not one.taints]
    for pods in PODS[:3]:
        assert view.row(shape(pods)).total == sum(
            room(tuple(sorted(pods.requests.items())), model.free(node.name)) for node in bare
        )


@settings(max_examples=20)
@given(st.integers(1, 40))
def test_shapes_beyond_the_bound_are_forgotten_and_counted_again_when_asked(extra: int) -> None:
    view = ClusterView(ClusterInfo("c"))
    view.put(Node("n", {"cpu": 1000, "pods": 1000}))
    for cpu in range(1, module.MOST_SHAPES + extra):
        assert view.row(shape(PodSet("p", 1, {"cpu": cpu}))).total == 1000 // cpu
    view.put(Node("n", {"cpu": 500, "pods": 1000}))
    assert view.row(shape(PodSet("p", 1, {"cpu": 1}))).total == 500
    assert len(view.shapes) <= module.MOST_SHAPES
