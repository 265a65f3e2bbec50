"""Random lives of a cluster: what may happen to it, and the rules of that in the plainest form."""

from hypothesis import strategies as st

from fairway.domain.resources import Resources
from fairway.placement.cluster import ClusterView, taken
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

    def fresh(self, info: ClusterInfo) -> ClusterView:
        view = ClusterView(info)
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
            view.engine().counts([shape(pods)])
