"""Where a refusal is put into words: the cause, then who can allow it and where."""

from fairway.domain.tenancy.profile import (
    BASELINE,
    LEVELS,
    PLAIN_ENV_LABEL,
    POD_SECURITY_LABELS,
    PRIVILEGED,
    RESTRICTED,
    Tenancy,
)
from fairway.workloads.pod_security.view import PodView

PLAIN_ENV_REMEDY = "name a Secret in valueFrom.secretKeyRef: it goes along, and stands in no record"


class Ruling:
    """The refusals of one job; the first reason of a field is the one that is told. `account` is the one that the
    chart of the kind's operator makes."""

    def __init__(self, tenancy: Tenancy, account: str = "") -> None:
        self.tenancy = tenancy
        self.account = account
        self._said: set[str] = set()

    @property
    def restricted(self) -> bool:
        return self.tenancy.level == RESTRICTED

    @property
    def privileged(self) -> bool:
        return self.tenancy.level == PRIVILEGED

    def baseline(self, view: PodView, text: str) -> None:
        """Forbidden below `privileged`."""
        if not self.privileged:
            self._level(view, text, BASELINE)

    def strict(self, view: PodView, text: str) -> None:
        """Forbidden by `restricted` alone."""
        if self.restricted:
            self._level(view, text, RESTRICTED)

    def unseen(self, view: PodView, text: str, otherwise: str = "write it out in the manifest") -> None:
        """It changes pods in a way that Fairway cannot look at, so only those may who may do anything."""
        if not self.privileged:
            self._say(view, text, f"{otherwise}, or {self._more(PRIVILEGED)}")

    def trusted(self, view: PodView, text: str, otherwise: str = "remove it") -> None:
        """It takes what is others', or what nobody counts, so only those may who may do anything."""
        if not self.privileged:
            self._say(view, text, f"{otherwise}, or {self._more(PRIVILEGED)}")

    def never(self, view: PodView, text: str, remedy: str) -> None:
        """Nobody may."""
        self._say(view, text, remedy)

    def unlisted(self, view: PodView, text: str, field: str, otherwise: str) -> None:
        """Allowed where a TenantProfile lists it under `field`."""
        self._say(view, text, f"{otherwise}, or have an administrator list it in {field}")

    def plain_secret(self, view: PodView, name: str) -> None:
        """The value of a variable of that name is written out, and is in the record as long as the manifest is."""
        if self.tenancy.denies_plain_env:
            text = f"is the value of {name}, written out, and the namespace takes no such values"
            self._say(view, f"{text} (label {PLAIN_ENV_LABEL})", PLAIN_ENV_REMEDY)

    def _level(self, view: PodView, text: str, standard: str) -> None:
        more = LEVELS[LEVELS.index(standard) + 1]
        self._say(view, f"{text}; the Pod Security Standard {standard} forbids it", f"change it, or {self._more(more)}")

    def _more(self, level: str) -> str:
        where = f"label {POD_SECURITY_LABELS[0]} of the hub's namespace {self.tenancy.namespace}"
        return f"have an administrator set TenantProfile spec.podSecurity, or the {where}, to {level}"

    def _say(self, view: PodView, text: str, remedy: str) -> None:
        path = view.place.path
        if path not in self._said:
            self._said.add(path)
            view.wrong(text, remedy)
