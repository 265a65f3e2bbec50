"""The fields of a TrainJob and of its runtime that are known: those of Kubeflow's trainer 2.1.

A later trainer may make other pods by what it has more, of which nothing would be sized or looked at; an earlier one
drops what it does not know. So what is not known is refused by its name.
"""

from collections.abc import Iterable

from fairway.workloads.reading.fields import Field

_INITIALIZER = ("storageUri", "env", "secretRef")
_TRAINER = ("image", "command", "args", "env", "numNodes", "resourcesPerNode", "numProcPerNode")
_MPI = ("numProcPerNode", "mpiImplementation", "sshAuthMountPath", "runLauncherAsNode")


def check(spec: Field) -> None:
    """Of a TrainJob that has its runtime in it."""
    only(spec, ("runtime", "initializer", "trainer", "suspend", "managedBy"))
    only(spec["initializer"], ("dataset", "model"))
    for name in ("dataset", "model"):
        only(spec["initializer"][name], _INITIALIZER)
    only(spec["trainer"], _TRAINER)
    only(spec["trainer"]["resourcesPerNode"], ("limits", "requests"))
    runtime = spec["runtime"]
    only(runtime, ("mlPolicy", "podGroupPolicy", "template"))
    only(runtime["template"], ("metadata", "spec"))
    policy = runtime["mlPolicy"]
    only(policy, ("numNodes", "torch", "mpi"))
    only(policy["torch"], ("numProcPerNode",))
    only(policy["mpi"], _MPI)
    if policy["torch"].given and policy["mpi"].given:
        policy["mpi"].wrong("stands beside torch", "keep one of them")


def only(field: Field, names: Iterable[str]) -> None:
    for key, one in field.pairs():
        if one.given and key not in names:
            one.wrong("is no field of a TrainJob that Fairway knows", f"remove it; known are {', '.join(names)}")
