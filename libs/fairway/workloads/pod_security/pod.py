"""One pod that a job makes, as its manifest describes it."""

from collections.abc import Callable
from functools import cached_property

from fairway.workloads.pod_security.nothing_to_rule_on import quiet_template
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_CONTAINERS

_LISTS = ("initContainers", "containers", "ephemeralContainers")


class Pod:
    """`describe` gives its metadata and its spec, and `quiet` whether it says nothing that any rule below `restricted`
    looks at. `template` is the spec of its template, where it has one of its own.

    `accounts` are where a pod names its service account that cannot do without the token of one, the last of them where
    one may be written; the others have none."""

    def __init__(
        self,
        describe: Callable[[], tuple[PodView, PodView]],
        accounts: tuple[Field, ...] = (),
        quiet: Callable[[], bool] = bool,
        template: Field | None = None,
    ) -> None:
        self.accounts = accounts
        self.quiet = quiet
        self.template = template
        self._describe = describe

    @cached_property
    def _described(self) -> tuple[PodView, PodView]:
        return self._describe()

    @property
    def metadata(self) -> PodView:
        return self._described[0]

    @property
    def spec(self) -> PodView:
        return self._described[1]

    @property
    def needs_token(self) -> bool:
        return bool(self.accounts)


def of_template(template: Field, needs_token: bool = False, **moved: PodView) -> Pod:
    """The pod of a PodTemplateSpec; `moved` are fields of its spec that stand elsewhere."""
    spec = template["spec"]
    return Pod(
        lambda: (PodView(template["metadata"]), PodView(spec, moved=moved)),
        (spec["serviceAccountName"],) if needs_token else (),
        lambda: not moved and quiet_template(template.value),
        spec,
    )


def containers(pod: Pod) -> list[PodView]:
    """Every container: those that start first, those that run, and those that are added later."""
    return [one for name in _LISTS if pod.spec.mentions(name) for one in pod.spec[name].items(MOST_CONTAINERS)]
