"""Specs of pods that ask for given amounts, in the different ways in which a manifest can say so."""

import random
from typing import Any

Json = dict[str, Any]
Amounts = dict[str, int]

GPU = "nvidia.com/gpu"
NIC = "example.com/nic"
BATCH_CPU = "kubernetes.io/batch-cpu"
HUGE = "hugepages-2Mi"
_IN_MIB = ("memory", "ephemeral-storage", HUGE)
# Of everything else a container's limit is what it requests.
_OVERCOMMITTED = ("cpu", "memory", "ephemeral-storage")


def quantities(amounts: Amounts) -> dict[str, str]:
    """Millicores, MiB and pieces as Kubernetes writes them."""
    return {name: _quantity(name, amount) for name, amount in amounts.items()}


def _quantity(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount}m" if amount % 1_000 else str(amount // 1_000)
    return f"{amount}Mi" if name in _IN_MIB else str(amount)


def pod_spec(dice: random.Random, amounts: Amounts) -> Json:
    """A spec whose pod takes these amounts of its node: all in one container, in two, as the most that an init
    container wants, or in part by a sidecar."""
    how = dice.choice(("one", "one", "one", "two", "init", "sidecar"))
    small = {name: amount // 2 for name, amount in amounts.items() if name in ("cpu", "memory")}
    rest = {name: amount - small.get(name, 0) for name, amount in amounts.items()}
    if how == "two":
        return _spec([_container(dice, "main", rest), _container(dice, "second", small)])
    if how == "init":
        lean = {**amounts, **small}
        return _spec([_container(dice, "main", lean)], [_container(dice, "first", amounts)])
    if how == "sidecar":
        sidecar = {**_container(dice, "beside", small), "restartPolicy": "Always"}
        return _spec([_container(dice, "main", rest)], [sidecar])
    return _spec([_container(dice, "main", amounts)])


def _spec(containers: list[Json], inits: list[Json] | None = None) -> Json:
    first = {"initContainers": inits} if inits else {}
    return {**first, "containers": containers, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0}


def _container(dice: random.Random, name: str, amounts: Amounts) -> Json:
    """What is not requested is what is limited."""
    said = quantities({one: amount for one, amount in amounts.items() if amount})
    firm = {one: text for one, text in said.items() if one not in _OVERCOMMITTED}
    resources = {"limits": said} if dice.random() < 0.3 else {"requests": said, "limits": firm}
    return {"name": name, "image": "x", "resources": resources}
