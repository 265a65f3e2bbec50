"""What is worth a report: nodes and pods as they are told in, node rows that changed out."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairway.agent.observe import Use, node_of, reserved_by, use_of
from fairway.domain.batch_resources import has_batch, without_batch
from fairway.domain.resources import Resources
from fairway.domain.text.digits import is_whole
from fairway.wire.capacity import Node, Pods
from fairway.wire.fleet import Strand


class _Attempt(Struct):
    counts: dict[str, int]
    requests: Resources


class _Users(Struct):
    """Who uses one node. Kept apart from the node: a pod may be told before its node is. Attempts are by what pods say
    of themselves, and the namespace in which they say it."""

    used: Resources = {}
    attempts: dict[tuple[str, str], _Attempt] = {}
    pods: int = 0


class Seen:
    """Every node and every pod that takes something, by name; grows and shrinks with the cluster only."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._versions: dict[str, str] = {}
        self._kubelets: dict[str, int] = {}
        self._uses: dict[tuple[str, str], Use] = {}
        self._users: dict[str, _Users] = {}
        self._changed: set[str] = set()
        self._gone: set[str] = set()
        self._absent: dict[str, int] = {}
        self._unready: set[str] = set()
        self._batch = False

    @property
    def lists_batch(self) -> bool:
        """Whether any node has batch resources."""
        return any(has_batch(node.allocatable) for node in self._nodes.values())

    def tell_batch(self, tell: bool) -> None:
        """Whether the batch resources of nodes are told. Without it nobody is placed on them."""
        if tell != self._batch:
            self._batch = tell
            self._changed |= self._nodes.keys()

    def node(self, name: str, manifest: dict[str, Any] | None) -> None:
        """A node as it is now; None: it is gone. ValidationError when the manifest is no Node."""
        if manifest is None:
            self._kubelet(name, "")
            self._unready.discard(name)
            if self._nodes.pop(name, None) is not None:
                self._gone.add(name)
                self._changed.discard(name)
            return
        node, version, ready = node_of(manifest)
        self._kubelet(name, version)
        (self._unready.discard if ready else self._unready.add)(name)
        if self._nodes.get(name) != node:
            self._nodes[name] = node
            self._gone.discard(name)
            self._changed.add(name)

    def _kubelet(self, name: str, version: str) -> None:
        """Counted by version: with every report the oldest is told, and a cluster has few versions and many nodes."""
        for one, sign in ((self._versions.pop(name, ""), -1), (version, 1)):
            if one:
                _move(self._kubelets, {one: 1}, sign)
        if version:
            self._versions[name] = version

    def pod(self, namespace: str, name: str, manifest: dict[str, Any] | None) -> None:
        """A pod as it is now; None: it is gone. ValidationError when the manifest is no Pod."""
        self._user((namespace, name), use_of(manifest) if manifest is not None else None)

    def reservation(self, name: str, manifest: dict[str, Any] | None) -> None:
        """A Koordinator Reservation as it is now; None: it is gone. What it holds is used, as by a pod."""
        self._user(("", name), reserved_by(manifest) if manifest is not None else None)

    def _user(self, key: tuple[str, str], after: Use | None) -> None:
        before = self._uses.get(key)
        if before == after:
            return
        if before is not None:
            del self._uses[key]
            self._count(before, -1)
        if after is not None:
            self._uses[key] = after
            self._count(after, 1)

    def _count(self, use: Use, sign: int) -> None:
        users = self._users.setdefault(use.node, _Users({}, {}))
        users.pods += sign
        if use.attempt:
            attempt = users.attempts.setdefault((use.attempt, use.namespace), _Attempt({}, {}))
            _move(attempt.counts, {use.pod_set: 1}, sign)
            _move(attempt.requests, use.requests, sign)
            if not attempt.counts:
                del users.attempts[use.attempt, use.namespace]
        else:
            _move(users.used, use.requests, sign)
        if not users.pods:
            del self._users[use.node]
        if use.node in self._nodes:
            self._changed.add(use.node)

    @property
    def anything(self) -> bool:
        """Whether there is something to report since the last `take`."""
        return bool(self._changed or self._gone)

    def take(self, full: bool) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """The rows to report, all of them or those that changed, and the names of the gone; both sorted. They count
        as reported."""
        names = sorted(self._nodes if full else self._changed)
        gone = () if full else tuple(sorted(self._gone))
        self._changed = set()
        self._gone = set()
        return tuple(self._row(name) for name in names), gone

    def _row(self, name: str) -> Node:
        node = self._nodes[name]
        if not self._batch and has_batch(node.allocatable):
            node = structs.replace(node, allocatable=without_batch(node.allocatable))
        users = self._users.get(name)
        if users is None:
            return node
        return structs.replace(node, used=dict(users.used), attempts=_claims(users))

    def stranded(self, now: int, grace: int) -> tuple[Strand, ...]:
        """Attempts with pods on nodes that have been away, not ready or not there at all, since `grace` before `now`
        (ms): whoever should have moved these pods has not."""
        away = {name for name in self._users if name in self._unready or name not in self._nodes}
        self._absent = {name: self._absent.get(name, now) for name in sorted(away)}
        found = []
        for name, since in self._absent.items():
            if now - since >= grace:
                how = "has not been ready" if name in self._nodes else "has not been there"
                for key, namespace in sorted(self._users[name].attempts):
                    job, _, number = key.rpartition("/")
                    found.append(Strand(job, int(number), name, how, (now - since) // 1000, namespace))
        return tuple(found)

    @property
    def kubernetes(self) -> str:
        """The oldest kubelet's version: what a job may count on everywhere."""
        return min(self._kubelets, key=_numbers, default="")


def _claims(users: _Users) -> dict[str, Pods]:
    """What is said to be of each attempt. Whose it is, an agent cannot tell: where pods of several namespaces say that
    they are of the same attempt, each namespace has its own line."""
    claims: dict[str, dict[str, _Attempt]] = {}
    for (key, namespace), one in sorted(users.attempts.items()):
        claims.setdefault(key, {})[namespace] = one
    found: dict[str, Pods] = {}
    for key, by_namespace in claims.items():
        held = by_namespace.pop("", None)
        if len(by_namespace) < 2:
            namespace, one = next(iter(by_namespace.items()), ("", _Attempt({}, {})))
            found[key] = _together(one, held, namespace)
            continue
        if held is not None:
            found[key] = _together(held, None, "")
        found |= {f"{key}@{where}": _together(one, None, where) for where, one in by_namespace.items()}
    return found


def _together(one: _Attempt, held: _Attempt | None, namespace: str) -> Pods:
    counts = dict(one.counts)
    requests = dict(one.requests)
    if held is not None:
        _move(counts, held.counts, 1)
        _move(requests, held.requests, 1)
    return Pods(counts, requests, namespace)


def _move(total: Resources, amounts: Resources, sign: int) -> None:
    for name, amount in amounts.items():
        moved = total.get(name, 0) + sign * amount
        if moved:
            total[name] = moved
        else:
            total.pop(name, None)


def _numbers(version: str) -> tuple[int, ...]:
    """`v1.34.4-gke.1` → (1, 34, 4)."""
    return tuple(int(part) for part in version.lstrip("v").split("-")[0].split(".") if is_whole(part))


def parts(rows: Sequence[Node], most_bytes: int) -> list[tuple[Node, ...]]:
    """The rows in order, cut so that each part is at most `most_bytes` of JSON; a larger row goes alone. At least
    one part."""
    cut: list[tuple[Node, ...]] = []
    part: list[Node] = []
    size = 0
    for row in rows:
        length = len(msgspec.json.encode(row)) + 1
        if part and size + length > most_bytes:
            cut.append(tuple(part))
            part = []
            size = 0
        part.append(row)
        size += length
    return [*cut, tuple(part)]
