"""Every operator by name. The kinds of `MODULE` and of `MODULE-VARIANT` are those of the module."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fairway.lab.kubereal.operators.argo import argo
from fairway.lab.kubereal.operators.jobset import jobset
from fairway.lab.kubereal.operators.koordinator import koordinator
from fairway.lab.kubereal.operators.ray import ray
from fairway.lab.kubereal.operators.setup import Setup, Site
from fairway.lab.kubereal.operators.spark import spark
from fairway.lab.kubereal.operators.training import training, training_volcano
from fairway.lab.kubereal.operators.volcano import volcano

OPERATORS: Mapping[str, Callable[[Site], Setup]] = MappingProxyType(
    {
        "argo": argo,
        "jobset": jobset,
        "koordinator": koordinator,
        "ray": ray,
        "spark": spark,
        "training": training,
        "training-volcano": training_volcano,
        "volcano": volcano,
    }
)
