"""Who asks, what they ask to be allowed, and which right each route wants. Values."""

from msgspec import Struct

# The API group of what exists at this door only: no hub serves these, its RBAC rules name them all the same.
GROUP = "fairway.io"
JOBS = "jobs"
DEAD_LETTERS = "deadletters"
# What the record holds beyond what is told of a job.
RECORD = "record"
# What Kubernetes calls a service account: this, its namespace, its name.
_ACCOUNT = "system:serviceaccount:"


class Caller(Struct, frozen=True):
    """As the hub knows them. `operator`: with a key of this process's own key file; nothing is asked about them."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    operator: bool = False

    @property
    def namespace(self) -> str:
        """That of a service account; else empty."""
        head, _, rest = self.user.partition(_ACCOUNT)
        return rest.partition(":")[0] if not head and ":" in rest else ""

    @property
    def tenant(self) -> str:
        """Whose share of the door they use. Who may edit a namespace can make service accounts there, as many as they
        like: all of them are one. Who else is known to the hub, its administrator decides one by one."""
        return f"the service accounts of namespace {self.namespace}" if self.namespace else self.user


class AccessQuestion(Struct, frozen=True):
    """May they `verb` this? Without a namespace: in all of them, or of what has none."""

    verb: str
    resource: str
    group: str = GROUP
    namespace: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.title}{name}" + (f" in namespace {self.namespace}" if self.namespace else "")


class Right(Struct, frozen=True):
    """What a route wants of its caller: `verb` on `resource`. `at_once`: it is known before the request is read, and
    asked by the router; else the handler asks, when it knows the namespace or the kind."""

    verb: str
    resource: str
    at_once: bool = False

    @property
    def ask(self) -> AccessQuestion:
        return AccessQuestion(self.verb, self.resource)

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + ("" if " " in self.resource else f".{GROUP}")


SUBMIT = Right("create", "the manifest's own kind, in its namespace")
SET = Right("patch and create", "the object's own kind, in its namespace")
CANCEL = Right("delete", "the job's own kind, in its namespace, by its name")
LIST = Right("list", JOBS)
READ = Right("get", JOBS)
FOLLOW = Right("watch", JOBS)
QUEUES = Right("list", "queues", True)
QUOTAS = Right("list", "quotas", True)
CLUSTERS = Right("list", "clusters", True)
LETTERS = Right("list", DEAD_LETTERS, True)
LETTER = Right("get", DEAD_LETTERS, True)
MANIFEST = Right("get", "the job's own kind, in its namespace, by its name")
