"""What of a policy holds for a job: said once, for the job that is admitted and for one that follows a change."""

from collections.abc import Container
from typing import Any

import msgspec

from fairway.domain.text.digits import is_whole
from fairway.wire.fleet import FleetMessage
from fairway.wire.policy import Affinity, Placement, Policy
from fairway.wire.spec import CompanionName, JobSpec


class Changed(FleetMessage, frozen=True, kw_only=True, tag="changed"):
    """Local: the hub says something new about the fleet; the object by its kind, a policy by its title too."""

    kind: str
    policy: str = ""


def terms(policy: Policy, namespace: str) -> dict[str, Any]:
    """The fields of a job's specification that its policy decides, for a job of that namespace."""
    companions: tuple[CompanionName, ...] = ()
    if policy.companions:  # most have none, and each waiting job is asked before it goes
        named = (CompanionName(one.kind, one.name) for one in policy.companions if one.namespace in ("", namespace))
        companions = tuple(dict.fromkeys(named))
    return {
        "policy": policy.title,
        "policy_version": policy.version,
        "placement": policy.placement,
        "attempts": policy.attempts,
        "start_timeout": policy.start_timeout,
        "avoid": policy.avoid,
        "reserve": policy.reserve,
        "alone": policy.alone,
        "policy_companions": companions,
    }


def bounded(placement: Placement, clusters: frozenset[str]) -> Placement | None:
    """The same within the clusters that a namespace may use (none named: all); None when nothing is left of it."""
    if not clusters:
        return placement
    kept = tuple(one for affinity in placement.affinities if (one := _within(affinity, clusters)))
    return msgspec.structs.replace(placement, affinities=kept) if kept else None


def _within(affinity: Affinity, clusters: frozenset[str]) -> Affinity | None:
    names = affinity.cluster_names or tuple(sorted(clusters))
    left = tuple(name for name in names if name in clusters)
    return msgspec.structs.replace(affinity, cluster_names=left) if left else None


def nowhere(placement: Placement) -> Placement:
    """For a job that waits and may run in none of the clusters of its policy any more: it waits on, and says so."""
    shut = tuple(msgspec.structs.replace(one, exclude=one.cluster_names) for one in placement.affinities)
    return msgspec.structs.replace(placement, affinities=shut)


def within(placement: Placement, clusters: frozenset[str]) -> dict[str, Any]:
    """The fields of a specification that say where it may run: what is left of its policy's placement within the
    `clusters` of its namespace, and that placement where it is more, for when they are more."""
    kept = bounded(placement, clusters) or nowhere(placement)
    return {"placement": kept, "unbounded": None if kept is placement or kept == placement else placement}


def absent(placement: Placement, known: Container[str]) -> tuple[str, ...]:
    """The clusters that a placement names, and would take, and that are not among the `known`; in order of names."""
    named = {name for one in placement.affinities for name in one.cluster_names if name not in one.exclude}
    return tuple(sorted(name for name in named if name not in known))


def amended(spec: JobSpec, policy: Policy, clusters: frozenset[str] = frozenset()) -> JobSpec | None:
    """The specification under its policy as that is now, within the `clusters` of its namespace; None when nothing of
    it changed, or when the job came with a later version than is known here."""
    if not spec.follows or _older(policy.version, spec.policy_version):
        return None
    now = terms(policy, spec.workload.namespace) | within(policy.placement, clusters)
    if all(value == getattr(spec, name) for name, value in now.items() if name != "policy_version"):
        return None
    # What went along with an earlier attempt is still looked for when that is removed.
    companions = spec.companions or bool(now["policy_companions"])
    return msgspec.structs.replace(spec, **now, companions=companions)


def _older(version: str, than: str) -> bool:
    """Resource versions of one API server are numbers that grow; what has none is taken as it comes."""
    return is_whole(version) and is_whole(than) and int(version) < int(than)
