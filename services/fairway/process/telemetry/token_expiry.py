"""When the tokens of joined clusters end, told by whoever renews them."""

from collections.abc import Iterator

from fairway.adapters.kubernetes.admin import life_of
from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, read
from fairway.join.secret import Joined, token_of
from fairway.process.members.enrolment import Enrolment
from fairway.runtime.metrics.accumulators import Sample


class TokenExpiry:
    """A kubeconfig is read once for each version of its Secret."""

    def __init__(self, enrolment: Enrolment) -> None:
        self._enrolment = enrolment
        self._ends: dict[str, tuple[str, int]] = {}

    def __call__(self) -> Iterator[Sample]:
        secrets = self._enrolment.secrets
        self._ends = {name: known for name, known in self._ends.items() if name in secrets}
        for name, one in sorted(secrets.items()):
            known = self._ends.get(name)
            if known is None or known[0] != one.version:
                known = self._ends[name] = (one.version, _end(one))
            if known[1]:
                yield "fairway_member_token_expiry_timestamp_seconds", (name,), known[1] / 1000


def _end(one: Joined) -> int:
    """In milliseconds; 0: it does not say, or there is none, as in pull mode."""
    try:
        life = life_of(token_of(read(one.kubeconfig))) if one.kubeconfig is not None else None
    except BadKubeconfig:
        return 0
    return life.ends if life is not None else 0
