"""TenantProfile: what the jobs of some namespaces may name beyond what everybody may."""

from fairway.domain.tenancy.profile import LEVELS
from fairway.workloads.crds.crd import AGE, READY, SHORT_NAME, WHY, CrdKind, column, crd
from fairway.workloads.crds.placement import TOLERATION
from fairway.workloads.crds.schema import LABEL, Json, flag, many, obj, text
from fairway.workloads.settings.tenant_profiles import (
    API_VERSION,
    KIND,
    LEVEL,
    LONGEST_NAME,
    MOST_NAMES,
    MOST_NAMESPACES,
    NAMES,
    NAMESPACES,
    TOKENS,
    TOLERATIONS,
)

_ABOUT = {
    "serviceAccounts": "Service accounts that pods may run as, besides default.",
    "priorityClasses": "When there are any: no others may be named. system-* only if it is listed.",
    "queues": "Queues that jobs may name, besides those that list the namespace.",
    "quotaLeaves": "Leaves of the quota tree, by name or path, that jobs may be charged to, besides their own.",
    "clusters": "When there are any: jobs run in no others, whatever their policy says.",
    "schedulers": "Schedulers that pods may name, besides default-scheduler.",
    "runtimeClasses": "Runtime classes that pods may name.",
}


def _names(about: str) -> Json:
    return many(text(minLength=1, maxLength=LONGEST_NAME), MOST_NAMES, about)


def _spec() -> Json:
    properties: Json = {
        NAMESPACES: {
            **many(text(pattern=LABEL), MOST_NAMESPACES, "Of the hub: whose jobs this is about."),
            "minItems": 1,
            "x-kubernetes-list-type": "set",
        },
        **{name: _names(_ABOUT[name]) for name in NAMES},
        TOLERATIONS: many(TOLERATION, MOST_NAMES, "Tolerations that pods may have."),
        LEVEL: text("Of the Pod Security Standards, where the namespace's labels name none.", enum=["", *LEVELS]),
        TOKENS: flag("True: pods may have a token of their service account mounted."),
    }
    return obj(properties, required=(NAMESPACES,))


def definition() -> Json:
    kind = CrdKind(
        api_version=API_VERSION,
        kind=KIND,
        plural="tenantprofiles",
        about="What the jobs of some namespaces may name; without one they may name what everybody may.",
        namespaced=False,
        columns=(READY, column("Namespaces", f".spec.{NAMESPACES}"), AGE, WHY),
    )
    return crd(kind, _spec(), SHORT_NAME)
