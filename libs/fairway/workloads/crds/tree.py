"""ElasticQuotaTree. CEL cannot recurse, and every rule is paid for with the largest tree that its schema allows: what a
node must be by itself and with its children is checked to RULED levels below the root, deeper ones by the reader."""

from fairway.workloads.crds.crd import AGE, READY, WHY, CrdKind, column, crd
from fairway.workloads.crds.schema import ANYTHING, LABEL, QUANTITY, Json, many, obj, rule, strings, text
from fairway.workloads.settings.quota_trees import API_VERSION, KIND, MOST_CHILDREN, MOST_NAMED

# Levels that are written out (the root is 0), and those whose numbers are compared by rules.
_TYPED = 5
_RULED = 2
_SUMMED = 1
_NAME = r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
_QUANTITY: Json = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": QUANTITY,
    "maxLength": 32,
    "minimum": 0,
}


def _amounts(about: str, *rules: Json) -> Json:
    schema = {"type": "object", "description": about, "maxProperties": MOST_NAMED, "additionalProperties": _QUANTITY}
    return schema | ({"x-kubernetes-validations": list(rules)} if rules else {})


def _compared(left: str, right: str, how: str) -> str:
    """Two amounts of resource k, compared where both name it."""
    return f"!(k in {right}) || quantity(string({left}[k])).compareTo(quantity(string({right}[k]))) {how} 0"


def _unlimited(amount: str) -> str:
    """What is written with ten characters or more may mean "no limit"; the reader knows."""
    return f"size(string({amount}[k])) > 9"


_WITHIN = rule(
    f"!has(self.min) || !has(self.max) || self.min.all(k, {_compared('self.min', 'self.max', '<=')})",
    "min",
    "is above max",
    "lower min or raise max of this node",
)
_EQUAL = rule(
    "!has(self.min) || !has(self.max) || self.min.all(k,"
    f" {_compared('self.min', 'self.max', '==')} || {_unlimited('self.max')})",
    "min",
    "of the root is not its max",
    "make them the same",
)
_LEAF = rule(
    "!has(self.namespaces) || size(self.namespaces) == 0 || !has(self.children) || size(self.children) == 0",
    "namespaces",
    "stand beside children",
    "keep namespaces on leaves only",
)
_CEILING = rule(
    "!has(self.children) || !has(self.max) || self.children.all(c, !has(c.max)"
    f" || c.max.all(k, {_compared('c.max', 'self.max', '<=')} || {_unlimited('c.max')}))",
    "children",
    "have a max above the max of this node",
    "lower it there or raise it here",
)
_FLOOR = rule(
    "!has(self.children) || !has(self.min) || self.min.all(k, self.children.map(c, has(c.min) && k in c.min"
    " ? quantity(string(c.min[k])).asApproximateFloat() : 0.0).sum()"
    " <= quantity(string(self.min[k])).asApproximateFloat() * 1.000000001)",
    "children",
    "have mins that add up to more than the min of this node",
    "lower them there or raise it here",
)
_BACKED = rule(
    "!has(self.children) || self.children.all(c, !has(c.min) || c.min.all(k, has(self.min) && k in self.min"
    " || quantity(string(c.min[k])).asApproximateFloat() == 0.0))",
    "children",
    "have a min of a resource that the min of this node does not have",
    "add it here or remove it there",
)
_JOBS = rule("!('kube-queue/max-jobs' in self)", "min", "cannot guarantee kube-queue/max-jobs", "move it to max")


def _node(level: int) -> Json:
    """A node `level` steps below the root."""
    ruled = level <= _RULED
    rules: tuple[Json, ...] = (_LEAF, _WITHIN) if ruled else ()
    rules += (_CEILING, _FLOOR, _BACKED) if level <= _SUMMED else ()
    rules += (_EQUAL,) if level == 0 else ()
    named = text("Unique in the tree.", **({"pattern": _NAME, "maxLength": 63} if level else {}))
    properties: Json = {
        "name": named,
        "min": _amounts(
            "What is guaranteed; the children's add up to no more. Others may borrow it while it is not used.",
            *((_JOBS,) if ruled else ()),
        ),
        "max": _amounts("What is never exceeded; absent: no limit."),
        "namespaces": {
            **many(text(pattern=LABEL), about="Of leaves only: whose jobs are charged here."),
            "x-kubernetes-list-type": "set",
        },
        "attributes": strings(),
        "children": _children(level + 1),
    }
    return obj(properties, *rules, required=("name",) if level else ())


def _children(level: int) -> Json:
    if level > _TYPED:
        return many({"type": "object", **ANYTHING}, MOST_CHILDREN, "Deeper nodes, the same again.")
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    return {**many(_node(level), MOST_CHILDREN), **keyed}


def definition() -> Json:
    root = {**_node(0), "minProperties": 1, "description": "The whole fleet; its min is its max."}
    kind = CrdKind(
        api_version=API_VERSION,
        kind=KIND,
        plural="elasticquotatrees",
        about="Who may use how much: one tree for the whole fleet, a leaf for each group of namespaces.",
        short=("eqtree",),
        columns=(READY, column("Min", ".spec.root.min"), column("Max", ".spec.root.max", wide=True), AGE, WHY),
    )
    return crd(kind, obj({"root": root}, required=("root",)))
