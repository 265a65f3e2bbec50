"""The identities of a file as accounts of a real API server: a line each in its token file, their rights as RBAC."""

from collections.abc import Iterable, Iterator

from fairway.lab.kubesim.http.identities import Identity, Rule

Json = dict[str, object]
_RBAC = "rbac.authorization.k8s.io"


def token_file(identities: Iterable[Identity]) -> str:
    """What `--token-auth-file` reads: token, user, uid, groups."""
    return "".join(f"{','.join(_columns(one))}\n" for one in identities)


def _columns(one: Identity) -> Iterator[str]:
    yield from (one.token, one.username, one.uid or one.username)
    if one.groups:  # an empty column would be a group without a name
        yield f'"{",".join(one.groups)}"'


def rights(identities: Iterable[Identity]) -> list[Json]:
    """A role with its binding for each rule, in each namespace where it holds; and those namespaces."""
    known = tuple(identities)
    spaces = sorted({space for one in known for rule in one.rules for space in rule.namespaces})
    made: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}} for space in spaces]
    for one in known:
        for number, rule in enumerate(one.rules):
            made += _granted(one, f"{one.username}-{number}", rule)
    return made


def _granted(one: Identity, name: str, rule: Rule) -> Iterator[Json]:
    allowed = {
        "apiGroups": list(rule.groups),
        "resources": list(rule.resources),
        "verbs": list(rule.verbs),
        **({"resourceNames": list(rule.names)} if rule.names else {}),
    }
    subject = {"apiGroup": _RBAC, "kind": "User", "name": one.username}
    for space in rule.namespaces or ("",):
        kind = "Role" if space else "ClusterRole"
        about = {"name": name, **({"namespace": space} if space else {})}
        common = {"apiVersion": f"{_RBAC}/v1", "metadata": about}
        yield {**common, "kind": kind, "rules": [allowed]}
        reference = {"apiGroup": _RBAC, "kind": kind, "name": name}
        yield {**common, "kind": f"{kind}Binding", "roleRef": reference, "subjects": [subject]}
