"""Which companions a manifest names, wherever in it that stands: an operator hands on more than a reader reads, so
every place counts. What is named and is not there is nobody's loss. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.reading.names import is_name

CONFIG_MAP = "ConfigMap.v1"
SECRET = "Secret.v1"
ACCOUNT = "ServiceAccount.v1"
CLAIM = "PersistentVolumeClaim.v1"
# Pods start in this order of need: without its account none is even made.
KINDS = (ACCOUNT, SECRET, CONFIG_MAP, CLAIM)
# What a job may name. Each is a call or two on the hub and in the member before anything runs.
MOST = 128
_NAME = "name"
# Keys of a mapping that has the name, as pods, Argo and Spark write them.
_HOLDERS = {
    **dict.fromkeys(("configMap", "configMapRef", "configMapKeyRef", "krbConfigConfigMap"), CONFIG_MAP),
    **dict.fromkeys(("secret", "secretRef", "secretKeyRef", "nodePublishSecretRef"), SECRET),
}
# Argo's artifacts: accessKeySecret, sshPrivateKeySecret and a dozen more.
_ARGO_SECRET = "Secret"
# Keys of a text that is the name.
_TEXTS = {
    "secretName": SECRET,
    "claimName": CLAIM,
    "volumeClaimName": CLAIM,
    "serviceAccountName": ACCOUNT,
    "serviceAccount": ACCOUNT,
    "configMap": CONFIG_MAP,
    "sparkConfigMap": CONFIG_MAP,
    "hadoopConfigMap": CONFIG_MAP,
}
# Keys of a list of names, plain or as mappings; and of a mapping of mappings.
_LISTS = {"imagePullSecrets": SECRET, "secrets": SECRET, "configMaps": CONFIG_MAP}
_MAPPINGS = {"envSecretKeyRefs": SECRET}
_CONF = "sparkConf"
_SPARK = re.compile(
    r"spark\.kubernetes\.(?:driver|executor)\.(?:secrets\.(?P<secret>.+)|(?P<ref>secretKeyRef)\..+"
    r"|volumes\.persistentVolumeClaim\.[^.]+\.options\.(?P<claim>claimName))"
    r"|spark\.kubernetes\.container\.image\.(?P<pull>pullSecrets)"
)
# In every namespace of every cluster, and different in each.
_EVERYWHERE = frozenset({(CONFIG_MAP, "kube-root-ca.crt"), (ACCOUNT, "default")})
# Each key above holds one of these.
_WORDS = (b"onfigMap", b"ecret", b"laimName", b"erviceAccount")


class Named(Struct, frozen=True, order=True):
    """`kind` is one of KINDS."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.partition('.')[0]} {self.name}"


def named(manifest: dict[str, Any], kind: Kind, text: bytes = b"\\") -> tuple[Named, ...]:
    """In the order of KINDS, each once; `text` is the JSON that the manifest was read from. Raises Refused beyond MOST.

    Names that are filled in at run time are not known here. Where a kind's pods need the token of their account, it is
    left to the member: an account without the rights that it was made for would be of no use to them."""
    if not may_name(text):
        return ()
    found = dict.fromkeys(_walk([manifest.get("spec"), manifest.get("gang")]))
    kept = {one for one in found if goes(one, kind)}
    if len(kept) > MOST:
        told = f"names {len(kept)} ConfigMaps, Secrets, service accounts and claims"
        raise Refused(Reason(Code.INVALID, told, "spec", f"name at most {MOST}"))
    return in_order(kept)


def may_name(text: bytes) -> bool:
    """Whether a manifest of this JSON may name any. Most jobs name nothing. That shows soonest in the text, unless
    something there is escaped."""
    return b"\\" in text or any(word in text for word in _WORDS)


def in_order(some: Iterable[Named]) -> tuple[Named, ...]:
    """Each once, in the order of KINDS."""
    return tuple(sorted(set(some), key=lambda one: (KINDS.index(one.kind), one.name)))


def everywhere(one: Named) -> bool:
    return (one.kind, one.name) in _EVERYWHERE


def goes(one: Named, kind: Kind) -> bool:
    """Whether it may go along with a job of the kind."""
    return is_name(one.name) and not everywhere(one) and not left_to_the_member(one, kind)


def left_to_the_member(one: Named, kind: Kind) -> bool:
    return one.kind == ACCOUNT and bool(kind.account)


def pull_secrets(account: dict[str, Any]) -> Iterator[Named]:
    """Which Secrets a ServiceAccount gives its pods to pull images with."""
    return (one for one in _listed(account.get("imagePullSecrets"), SECRET) if is_name(one.name))


def _walk(spec: Any) -> Iterator[Named]:
    left: list[Any] = [spec]
    for here in left:
        if type(here) is dict:
            for key, value in here.items():
                if type(value) is str:
                    if key in _TEXTS and value:
                        yield Named(_TEXTS[key], value)
                elif type(value) is dict:
                    yield from _held(key, value)
                    left.append(value)
                elif type(value) is list:
                    if key in _LISTS:
                        yield from _listed(value, _LISTS[key])
                    left.append(value)
        elif type(here) is list:
            left.extend(one for one in here if type(one) is dict or type(one) is list)


def _held(key: str, value: dict[str, Any]) -> Iterator[Named]:
    if key == _CONF:
        yield from _of_spark(value)
    elif key in _MAPPINGS:
        yield from _listed(value.values(), _MAPPINGS[key])
    elif key in _HOLDERS or key.endswith(_ARGO_SECRET):
        yield from _one(value.get(_NAME), _HOLDERS.get(key, SECRET))


def _listed(entries: Any, kind: str) -> Iterator[Named]:
    for entry in entries if isinstance(entries, Iterable) else ():
        yield from _one(entry.get(_NAME) if type(entry) is dict else entry, kind)


def _one(name: Any, kind: str) -> Iterator[Named]:
    if type(name) is str and name:
        yield Named(kind, name)


def _of_spark(conf: dict[str, Any]) -> Iterator[Named]:
    """Properties of Kubernetes (Spark 3.5): a Secret by the key itself, or by what the key says."""
    for key, value in conf.items():
        found = _SPARK.fullmatch(key)
        if found is None or type(value) is not str:
            continue
        if secret := found["secret"]:
            yield Named(SECRET, secret)
        elif found["ref"]:
            yield from _one(value.partition(":")[0], SECRET)
        elif found["claim"]:
            yield from _one(value, CLAIM)
        else:
            yield from _listed([one.strip() for one in value.split(",")], SECRET)
