"""Users of NATS with the rights of the table (bus_rights.py), as a server's configuration has them."""

import json
from collections.abc import Iterable, Mapping

from fairway.adapters.rights.bus_rights import CREDENTIALS, BusRights, rights

_HEAD = """\
# Made by `make schemas` from libs/fairway/adapters/rights/bus_rights.py: the users of the account of Fairway's
# services, and what each may publish and hear. To be included into that account. `fairway credentials` writes it with
# passwords; here each comes from the server's environment.
"""


def services_conf() -> str:
    """The text of deploy/nats/services.conf."""
    return _HEAD + users({one: f"${variable(one)}" for one in CREDENTIALS})


def variable(credential: str) -> str:
    """The environment variable of a server that has its password."""
    return f"FAIRWAY_{credential.upper().replace('-', '_')}_PASSWORD"


def users(passwords: Mapping[str, str], processes: Mapping[str, tuple[str, ...]] | None = None, more: str = "") -> str:
    """`users: [...]`. A password that begins with `$` is a variable. `processes` are users that stand for several
    credentials, by name; `more` are further ones, as NATS writes them."""
    of = {name: rights(*(processes or {}).get(name, (name,)), user=name) for name in passwords}
    return "users: [\n" + "".join(_user(name, word, of[name]) for name, word in passwords.items()) + more + "]\n"


def _user(name: str, password: str, of: BusRights) -> str:
    word = password if password.startswith("$") else json.dumps(password)
    answers = '\n    allow_responses: { max: 1, expires: "5s" }' if of.answers else ""
    return (
        f"  {{ user: {json.dumps(name)}, password: {word}, permissions: {{\n"
        f"    publish: {{\n      allow: [{_listed(of.publish)}]\n      deny: [{_listed(of.never)}]\n    }}\n"
        f"    subscribe: {{ allow: [{_listed(of.subscribe)}] }}{answers}\n"
        "  } }\n"
    )


def _listed(patterns: Iterable[str]) -> str:
    return "".join(f"\n        {json.dumps(one)}" for one in patterns) + "\n      "
