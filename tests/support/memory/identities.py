"""Who is known to a cluster in memory, and what they may: TokenReview and SubjectAccessReview from a table."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class MemoryRule(Struct, frozen=True):
    """`*` stands for any. Without a namespace it holds in all of them. `resource` is written as plural.group."""

    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    namespace: str = ""

    def allows(self, asked: Json) -> bool:
        title = ".".join(part for part in (asked.get("resource", ""), asked.get("group", "")) if part)
        verb = {"*", asked.get("verb")} & set(self.verbs)
        return bool(verb and {"*", title} & set(self.resources) and self.namespace in ("", asked.get("namespace", "")))


class MemoryIdentity(Struct, frozen=True):
    """`audiences`: what its token was made for; none: the API itself."""

    user: str
    rules: tuple[MemoryRule, ...] = ()
    groups: tuple[str, ...] = ()
    audiences: tuple[str, ...] = ()


class MemoryIdentities:
    """`table` is by token; `asked` are the reviews so far, kind and spec."""

    def __init__(self, table: Mapping[str, MemoryIdentity]) -> None:
        self.table = dict(table)
        self.asked: list[tuple[str, Json]] = []

    def __call__(self, kind: str, body: Json) -> Json:
        spec: Json = body["spec"]
        self.asked.append((kind.partition(".")[0], spec))
        return self._token(spec) if kind.startswith("TokenReview.") else self._access(spec)

    def _token(self, spec: Json) -> Json:
        one = self.table.get(spec["token"])
        wanted = tuple(spec.get("audiences") or ())
        if one is None or (set(wanted) != set(one.audiences) and not set(wanted) & set(one.audiences)):
            return {"authenticated": False, "error": "invalid bearer token"}
        user = {"username": one.user, "groups": list(one.groups)}
        return {"authenticated": True, "user": user, "audiences": [name for name in one.audiences if name in wanted]}

    def _access(self, spec: Json) -> Json:
        rules: Iterable[MemoryRule] = (
            rule for one in self.table.values() if one.user == spec.get("user") for rule in one.rules
        )
        return {"allowed": any(rule.allows(spec["resourceAttributes"]) for rule in rules)}
